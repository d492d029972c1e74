package builder

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strconv"

	"go.yaml.in/yaml/v3"
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
		return func(s *scope) float64 { return s.lookup(e.Name) }, nil
	case *ast.UnaryExpr:
		return compileUnary(e)
	case *ast.BinaryExpr:
		return compileBinary(e)
	case *ast.CallExpr:
		return compileCall(e)
	}
	return nil, fmt.Errorf("%T is not allowed", tree)
}

func compileUnary(e *ast.UnaryExpr) (number, error) {
	x, err := compileNumber(e.X)
	switch {
	case err != nil:
		return nil, err
	case e.Op == token.SUB:
		return func(s *scope) float64 { return -x(s) }, nil
	case e.Op == token.NOT:
		return func(s *scope) float64 { return truth(x(s) == 0) }, nil
	}
	return nil, fmt.Errorf("operator %s is not allowed", e.Op)
}

// truth returns 1 for true and 0 for false.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// operators are the operators on two numbers. && and || are not among them: they evaluate their
// second operand only if the first does not decide.
var operators = map[token.Token]func(a, b float64) float64{
	token.ADD: func(a, b float64) float64 { return a + b },
	token.SUB: func(a, b float64) float64 { return a - b },
	token.MUL: func(a, b float64) float64 { return a * b },
	token.QUO: func(a, b float64) float64 { return a / b },
	token.REM: math.Mod,
	token.EQL: func(a, b float64) float64 { return truth(a == b) },
	token.LSS: func(a, b float64) float64 { return truth(a < b) },
	token.GTR: func(a, b float64) float64 { return truth(a > b) },
	token.GEQ: func(a, b float64) float64 { return truth(a >= b) },
}

func compileBinary(e *ast.BinaryExpr) (number, error) {
	a, err := compileNumber(e.X)
	if err != nil {
		return nil, err
	}
	b, err := compileNumber(e.Y)
	if err != nil {
		return nil, err
	}
	switch f := operators[e.Op]; {
	case f != nil:
		return func(s *scope) float64 { return f(a(s), b(s)) }, nil
	case e.Op == token.LAND:
		return func(s *scope) float64 { return truth(a(s) != 0 && b(s) != 0) }, nil
	case e.Op == token.LOR:
		return func(s *scope) float64 { return truth(a(s) != 0 || b(s) != 0) }, nil
	}
	return nil, fmt.Errorf("operator %s is not allowed", e.Op)
}

// functions are the functions that expressions can call, and the numbers of their arguments.
var functions = map[string]struct {
	args int
	call func(s *scope, a []float64) float64
}{
	"abs":     {1, func(_ *scope, a []float64) float64 { return math.Abs(a[0]) }},
	"cos":     {1, func(_ *scope, a []float64) float64 { return math.Cos(a[0]) }},
	"floor":   {1, func(_ *scope, a []float64) float64 { return math.Floor(a[0]) }},
	"round":   {1, func(_ *scope, a []float64) float64 { return math.Round(a[0]) }},
	"sin":     {1, func(_ *scope, a []float64) float64 { return math.Sin(a[0]) }},
	"sqrt":    {1, func(_ *scope, a []float64) float64 { return math.Sqrt(a[0]) }},
	"atan2":   {2, func(_ *scope, a []float64) float64 { return math.Atan2(a[0], a[1]) }},
	"hypot":   {2, func(_ *scope, a []float64) float64 { return math.Hypot(a[0], a[1]) }},
	"max":     {2, func(_ *scope, a []float64) float64 { return max(a[0], a[1]) }},
	"min":     {2, func(_ *scope, a []float64) float64 { return min(a[0], a[1]) }},
	"pow":     {2, func(_ *scope, a []float64) float64 { return math.Pow(a[0], a[1]) }},
	"ground":  {2, func(s *scope, a []float64) float64 { return s.groundHeight(a[0], a[1]) }},
	"between": {2, func(s *scope, a []float64) float64 { return s.rnd.Between(a[0], a[1]) }},
	"random":  {0, func(s *scope, _ []float64) float64 { return s.rnd.Float() }},
	"intn":    {1, func(s *scope, a []float64) float64 { return float64(s.rnd.Intn(max(int(a[0]), 1))) }},
}

func compileCall(e *ast.CallExpr) (number, error) {
	name, ok := e.Fun.(*ast.Ident)
	if !ok {
		return nil, fmt.Errorf("%T is not a function", e.Fun)
	}
	if name.Name == "named" && len(e.Args) == 1 {
		if thing, ok := e.Args[0].(*ast.Ident); ok {
			return func(s *scope) float64 { return float64(s.named[thing.Name]) }, nil
		}
	}
	f, ok := functions[name.Name]
	if !ok || len(e.Args) != f.args {
		return nil, fmt.Errorf("no function %s of %d arguments", name.Name, len(e.Args))
	}
	args := make([]number, len(e.Args))
	for i, tree := range e.Args {
		var err error
		if args[i], err = compileNumber(tree); err != nil {
			return nil, err
		}
	}
	return func(s *scope) float64 { return f.call(s, s.evalAll(args, len(args))) }, nil
}
