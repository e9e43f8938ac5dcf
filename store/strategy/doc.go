// Package strategy makes holds: the decrement, in five ways that stand side by side.
package strategy
