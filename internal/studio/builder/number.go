package builder

import (
	"fmt"
	"go/ast"
	"go/parser"
	"math"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// number is a number of a recipe: an expression that is evaluated in a scope. It is nil if the
// recipe does not give it.
type number func(s *scope) float64

// UnmarshalYAML compiles the expression.
func (n *number) UnmarshalYAML(node *yaml.Node) error {
	tree, err := parser.ParseExpr(node.Value)
	if err == nil {
		*n, err = compileNumber(tree)
	}
	if err != nil {
		return fmt.Errorf("line %d: %q: %w", node.Line, node.Value, err)
	}
	return nil
}

func compileNumber(tree ast.Expr) (number, error) {
	switch e := tree.(type) {
	case *ast.ParenExpr:
		return compileNumber(e.X)
	case *ast.BasicLit:
		v, err := strconv.ParseFloat(e.Value, 64)
		return func(*scope) float64 { return v }, err
	case *ast.Ident:
		return func(s *scope) float64 { return s.find(e.Name).value }, nil
	case *ast.UnaryExpr:
		return compileCall(e.Op.String(), e.X)
	case *ast.BinaryExpr:
		return compileCall(e.Op.String(), e.X, e.Y)
	case *ast.CallExpr:
		if name, ok := e.Fun.(*ast.Ident); ok {
			return compileCall(name.Name, e.Args...)
		}
	}
	return nil, fmt.Errorf("%T is not allowed", tree)
}

// compileCall compiles the call of a function or operator.
func compileCall(name string, trees ...ast.Expr) (number, error) {
	if len(trees) >= len(functions) || functions[len(trees)][name] == nil {
		return nil, fmt.Errorf("no function %s of %d arguments", name, len(trees))
	}
	call, args := functions[len(trees)][name], make([]number, len(trees))
	for i, tree := range trees {
		var err error
		if args[i], err = compileNumber(tree); err != nil {
			return nil, err
		}
	}
	return func(s *scope) float64 { return call(s, args) }, nil
}

// function is a function or operator. It evaluates its arguments itself, so that && and || evaluate
// the second one only if the first does not decide.
type function func(s *scope, args []number) float64

// functions are all functions and operators by their number of arguments.
var functions = [3]map[string]function{
	{"random": func(s *scope, _ []number) float64 { return s.rnd.Float() }},
	{
		"-": oneArg(func(a float64) float64 { return -a }), "!": oneArg(func(a float64) float64 { return truth(a == 0) }),
		"abs": oneArg(math.Abs), "cos": oneArg(math.Cos), "floor": oneArg(math.Floor), "round": oneArg(math.Round),
		"sin": oneArg(math.Sin), "sqrt": oneArg(math.Sqrt),
		"intn": func(s *scope, a []number) float64 { return float64(s.rnd.Intn(max(int(a[0](s)), 1))) },
	},
	{
		"+":     twoArgs(func(a, b float64) float64 { return a + b }),
		"-":     twoArgs(func(a, b float64) float64 { return a - b }),
		"*":     twoArgs(func(a, b float64) float64 { return a * b }),
		"/":     twoArgs(func(a, b float64) float64 { return a / b }),
		"==":    twoArgs(func(a, b float64) float64 { return truth(a == b) }),
		"<":     twoArgs(func(a, b float64) float64 { return truth(a < b) }),
		">":     twoArgs(func(a, b float64) float64 { return truth(a > b) }),
		">=":    twoArgs(func(a, b float64) float64 { return truth(a >= b) }),
		"&&":    func(s *scope, a []number) float64 { return truth(a[0](s) != 0 && a[1](s) != 0) },
		"||":    func(s *scope, a []number) float64 { return truth(a[0](s) != 0 || a[1](s) != 0) },
		"%":     twoArgs(math.Mod),
		"atan2": twoArgs(math.Atan2), "hypot": twoArgs(math.Hypot), "max": twoArgs(math.Max), "min": twoArgs(math.Min),
		"pow":     twoArgs(math.Pow),
		"between": func(s *scope, a []number) float64 { return s.rnd.Between(a[0](s), a[1](s)) },
	},
}

func oneArg(f func(a float64) float64) function {
	return func(s *scope, args []number) float64 { return f(args[0](s)) }
}

func twoArgs(f func(a, b float64) float64) function {
	return func(s *scope, args []number) float64 { return f(args[0](s), args[1](s)) }
}

// truth returns 1 for true and 0 for false.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
