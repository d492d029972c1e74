package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loregate/internal/markup"
)

// runner is a command whose fields hold the values of its flags and arguments.
type runner interface {
	Run(ctx context.Context, out io.Writer) error
}

// commandLine is the tree of commands that the struct cli declares. A field with the tag cmd is a command, with arg an
// argument of its command, and with help alone a flag. An embedded struct adds its fields. The tag name replaces a
// name, group is a heading of the list of commands, and a command with default also runs if its parent is named alone.
// The tags of flags and arguments are explained at value. The flags of a command are added when it is first found, since
// the flags of all commands take longer than most starts.
type commandLine struct {
	root   *cobra.Command
	bare   map[*cobra.Command]*parameters // of commands without their flags
	chosen runner                         // by the last parse; nil if nothing is left to run, as after help
	err    error                          // of a wrong command line that asks for help
}

// newCommandLine returns the commands of the program, which print help to out.
func newCommandLine(out, errOut io.Writer) *commandLine {
	cobra.EnableCommandSorting = false
	c := &commandLine{root: &cobra.Command{Use: "loregate", Long: overview, SilenceErrors: true, SilenceUsage: true},
		bare: map[*cobra.Command]*parameters{}}
	c.root.SetOut(out)
	c.root.SetErr(errOut)
	c.root.SetFlagErrorFunc(explainFlagError)
	c.root.AddGroup(groups...)
	c.root.PersistentFlags().BoolP("help", "h", false, "Print this help.")
	version := c.root.Flags().BoolP("version", "v", false, "Print the version.")
	c.attach(c.root, reflect.ValueOf(&cli{}))
	c.root.Args = refuseWords
	c.root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			c.chosen = versionCmd{}
			return nil
		}
		return cmd.Help()
	}
	c.adaptOwnCommands()
	return c
}

// adaptOwnCommands gives the commands help and completion, which are cobra's, the texts and errors of the others.
func (c *commandLine) adaptOwnCommands() {
	c.root.SetHelpCommandGroupID("self")
	c.root.SetCompletionCommandGroupID("self")
	c.root.InitDefaultHelpCmd()
	c.root.InitDefaultCompletionCmd()
	for _, cmd := range c.root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Use, cmd.DisableFlagsInUseLine = "help [<command>]", true
			cmd.Short = "Describe a command and its flags."
			cmd.Long = cmd.Short + "\n\nExample: loregate help world member add"
			cmd.Run, cmd.RunE = nil, c.describeCommand
		case "completion":
			cmd.Short = "Print the script that makes your shell complete commands and flags."
			cmd.Long = cmd.Short
			c.attach(cmd, reflect.ValueOf(&struct{}{}))
		}
	}
}

// describeCommand prints the help of the command that words name.
func (c *commandLine) describeCommand(_ *cobra.Command, words []string) error {
	cmd, rest, err := c.root.Find(words)
	if err == nil {
		err = refuseWords(cmd, rest)
	}
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	return cmd.Help()
}

// parse returns the command that args select, with its fields filled, or nil if nothing is left to run. With an error
// comes the path of the command that was recognized.
func (c *commandLine) parse(args []string) (command runner, path string, err error) {
	c.findFlags(args)
	c.root.SetArgs(append([]string{}, args...)) // for nil, cobra takes the arguments of the process
	cmd, err := c.root.ExecuteC()
	return c.chosen, cmd.CommandPath(), cmp.Or(err, c.err)
}

// findFlags adds the flags of the command that args run, describe or complete. With the flags of one command known,
// args may name a command below it.
func (c *commandLine) findFlags(args []string) {
	about := []string{"help", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}
	if len(args) > 0 && slices.Contains(about, args[0]) {
		args = args[1:]
	}
	for {
		cmd, _, err := c.root.Find(args)
		p := c.bare[cmd]
		if err != nil || p == nil {
			return
		}
		p.addTo(cmd)
		delete(c.bare, cmd)
	}
}

// parameters are the flags and arguments of one command.
type parameters struct {
	fields    reflect.Value // of the struct that has them
	flags     []*value
	arguments []*value
	line      *commandLine
	run       runner // nil if only the commands below it run
}

// attach gives a command the meaning that a struct declares: the commands below it, or else its run.
func (c *commandLine) attach(cmd *cobra.Command, pointer reflect.Value) {
	p := &parameters{line: c, fields: pointer.Elem()}
	if p.run, _ = pointer.Interface().(runner); p.run == nil {
		p.addCommands(cmd)
	}
	if p.run != nil {
		c.bare[cmd] = p
	}
	cmd.Args, cmd.ValidArgsFunction = p.fillFields, p.completeArgument
	cmd.RunE = func(*cobra.Command, []string) error {
		c.chosen = p.run
		return nil
	}
	cmd.SetHelpFunc(p.printHelp)
}

// addCommands adds the commands that the fields declare. A default command gives its parent its parameters and its run.
func (p *parameters) addCommands(cmd *cobra.Command) {
	fields, use := p.fields, " <command>"
	for i := range fields.NumField() {
		f, pointer := fields.Type().Field(i), fields.Field(i).Addr()
		if !hasTag(f.Tag, "cmd") {
			continue
		}
		sub := &cobra.Command{Use: flagName(f), Short: f.Tag.Get("help"), GroupID: f.Tag.Get("group")}
		cmd.AddCommand(sub)
		p.line.attach(sub, pointer)
		if f.Tag.Get("default") != "" {
			p.fields, use = pointer.Elem(), " [<command>]"
			p.run, _ = pointer.Interface().(runner)
		}
	}
	cmd.Use, cmd.DisableFlagsInUseLine = cmd.Use+use, true
}

// addTo adds the flags and arguments to their command.
func (p *parameters) addTo(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	p.addFields(cmd, p.fields)
	for _, v := range slices.Concat(p.flags, p.arguments) {
		if v.argument || v.isRequired() {
			cmd.Use += " " + v.usage()
		}
	}
}

// addFields adds the fields of a struct to a command, and the fields of embedded structs last.
func (p *parameters) addFields(cmd *cobra.Command, fields reflect.Value) {
	var embedded []reflect.Value
	for i := range fields.NumField() {
		switch f, at := fields.Type().Field(i), fields.Field(i); {
		case f.Anonymous:
			embedded = append(embedded, at)
		case hasTag(f.Tag, "arg"):
			p.arguments = append(p.arguments, newValue(cmd, f, at))
		case hasTag(f.Tag, "help"):
			p.addFlag(cmd, newValue(cmd, f, at))
		}
	}
	for _, e := range embedded {
		p.addFields(cmd, e)
	}
}

func (p *parameters) addFlag(cmd *cobra.Command, v *value) {
	p.flags = append(p.flags, v)
	f := &pflag.Flag{Name: v.name, Shorthand: v.tag.Get("short"), Usage: v.helpText(), Value: v}
	if v.field.Kind() == reflect.Bool {
		f.NoOptDefVal = "true"
	}
	cmd.Flags().AddFlag(f)
	if alias := v.tag.Get("aliases"); alias != "" {
		other := *f
		other.Name, other.Hidden = alias, true
		cmd.Flags().AddFlag(&other)
	}
	if v.isRequired() {
		_ = cmd.MarkFlagRequired(v.name) // so that it is completed first; fillFields checks it
	}
	if v.enum != nil {
		_ = cmd.RegisterFlagCompletionFunc(v.name, v.completeWord)
	}
}

// flagName returns the name that a field has on the command line: its own in lower case, with a hyphen between words.
func flagName(f reflect.StructField) string {
	if name := f.Tag.Get("name"); name != "" {
		return name
	}
	var b strings.Builder
	for i, r := range f.Name {
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(rune(f.Name[i-1])) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// fillFields sets the arguments to words, and every flag or argument that the command line leaves out to its variable in
// the environment or its default.
func (p *parameters) fillFields(cmd *cobra.Command, words []string) error {
	if p.run == nil && len(words) == 0 {
		return fmt.Errorf("name one of the commands %s", strings.Join(commandNames(cmd), ", "))
	}
	for _, v := range p.arguments {
		n := min(len(words), 1)
		if v.isList() {
			n = len(words)
		}
		for _, word := range words[:n] {
			if err := v.Set(word); err != nil {
				return fmt.Errorf("<%s> %w, not %q", v.name, err, word)
			}
		}
		words = words[n:]
	}
	if err := refuseWords(cmd, words); err != nil {
		return err
	}
	var missing []string
	for _, v := range slices.Concat(p.arguments, p.flags) {
		if err := v.setDefault(); err != nil {
			return err
		}
		if !v.given && v.isRequired() {
			missing = append(missing, v.usage()+v.allowedText())
		}
	}
	if len(missing) > 0 {
		return errors.New("missing " + strings.Join(missing, ", "))
	}
	return nil
}

// completeArgument returns the completions of the next argument.
func (p *parameters) completeArgument(cmd *cobra.Command, done []string, start string) ([]string,
	cobra.ShellCompDirective) {
	if len(done) < len(p.arguments) {
		return p.arguments[len(done)].completeWord(cmd, done, start)
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// refuseWords returns an error if words are left after a command and its arguments.
func refuseWords(cmd *cobra.Command, words []string) error {
	switch {
	case len(words) == 0:
		return nil
	case !cmd.HasSubCommands():
		return fmt.Errorf("unexpected argument %q", words[0])
	}
	return fmt.Errorf("unknown command %q%s", words[0], suggestName(words[0], "", commandNames(cmd)))
}

func commandNames(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return names
}

func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// suggestName returns the end of an error about an unknown name: the known name that it resembles, or all of them if
// they are few.
func suggestName(name, prefix string, known []string) string {
	best, found := min(len(name)/2, 2)+1, ""
	for _, k := range known {
		d := 0
		if !strings.HasPrefix(k, name) {
			d = markup.Distance([]byte(name[:min(len(name), 64)]), []byte(k))
		}
		if d < best {
			best, found = d, k
		}
	}
	switch {
	case found != "":
		return "; did you mean " + prefix + found + "?"
	case len(known) > 10:
		return ""
	}
	return "; there are " + prefix + strings.Join(known, ", "+prefix)
}

// explainFlagError returns an error of the parser of flags in the form of the others.
func explainFlagError(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if e.GetSpecifiedShortnames() != "" {
			return fmt.Errorf("unknown flag -%s", e.GetSpecifiedName())
		}
		return fmt.Errorf("unknown flag --%s%s", e.GetSpecifiedName(),
			suggestName(e.GetSpecifiedName(), "--", flagNames(cmd)))
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s %w, not %q", e.GetFlag().Name, e.Unwrap(), e.GetValue())
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		if v, ok := e.GetFlag().Value.(*value); ok {
			return fmt.Errorf("--%s needs a value: %s%s", v.name, v.usage(), v.allowedText())
		}
	}
	return err
}
