package spec

// Version is the version of the language.
const Version = 1

// Scene is a scene.
type Scene struct {
	Version   int                 `json:"version" enum:"1" jsonschema:"Version of the language."`
	Name      string              `json:"name" pattern:"^[a-z][a-z0-9_]*$" maxlen:"24" jsonschema:"Prefix of all names."`
	Title     string              `json:"title,omitzero" maxlen:"120" jsonschema:"For people."`
	Brief     string              `json:"brief,omitzero" maxlen:"4000" jsonschema:"Text that the scene shows, such as that of its card."`
	Card      string              `json:"card,omitzero" maxlen:"255" jsonschema:"Location card that it is made for, if the file is run as a plan."`
	Shows     map[string]int      `json:"shows,omitzero" jsonschema:"Number of things by noun that it must have; scene_check reports others."`
	Seed      int64               `json:"seed,omitzero" min:"0" max:"9007199254740991" jsonschema:"Of all random choices."`
	Light     Light               `json:"light,omitzero" jsonschema:"Sky and sun."`
	Ground    *Ground             `json:"ground,omitzero" jsonschema:"The land; absent: none."`
	Water     *Water              `json:"water,omitzero" jsonschema:"A sea or lake; absent: none."`
	Materials map[string]Material `json:"materials,omitzero" jsonschema:"Own materials by name."`
	Define    map[string]*Part    `json:"define,omitzero" jsonschema:"Parts for use; they stand nowhere themselves."`
	Parts     map[string]*Part    `json:"parts,omitzero" jsonschema:"The parts by name."`
	Cameras   map[string]Camera   `json:"cameras,omitzero" jsonschema:"Cameras by name; default one of the whole scene."`
	Markers   map[string]Marker   `json:"markers,omitzero" jsonschema:"Named points for a game."`
}

// Light is the light of the scene.
type Light struct {
	Time     string  `json:"time,omitzero" enum:"day,dawn,dusk,night,overcast" jsonschema:"Time or weather; default day."`
	Interior bool    `json:"interior,omitzero" jsonschema:"Without sky and sun: only lamps."`
	Sun      float64 `json:"sun,omitzero" jsonschema:"Azimuth in degrees: 0 is +X, 90 is +Y; default 240."`
	Clouds   float64 `json:"clouds,omitzero" min:"0" max:"1" jsonschema:"Share of the sky that clouds cover, in pictures."`
	Haze     float64 `json:"haze,omitzero" min:"0" max:"20000" jsonschema:"Metres at which things pale to half, in pictures; default none."`
	Exposure float64 `json:"exposure,omitzero" min:"-4" max:"4" jsonschema:"Of pictures: 1 is twice as bright."`
}

// Ground is the land: a square that hills, ridges, steps and rivers shape, in this order. Its materials
// are blended to one texture.
type Ground struct {
	Material string        `json:"material" maxlen:"40" jsonschema:"Of its surface."`
	Size     float64       `json:"size,omitzero" default:"160" min:"4" max:"2000" jsonschema:"Side of the square, in metres."`
	Hills    float64       `json:"hills,omitzero" min:"0" max:"200" jsonschema:"Height of the hills."`
	Flat     float64       `json:"flat,omitzero" default:"12" min:"0" max:"1000" jsonschema:"Radius of the flat middle."`
	Ridges   []Ridge       `json:"ridges,omitzero" maxitems:"12" jsonschema:"Mountains and banks along lines."`
	Steps    []Step        `json:"steps,omitzero" maxitems:"12" jsonschema:"Cliffs, shores, terraces and moats along lines."`
	Rivers   []River       `json:"rivers,omitzero" maxitems:"8" jsonschema:"Rivers and streams with their beds."`
	Layers   []GroundLayer `json:"layers,omitzero" maxitems:"8" jsonschema:"More materials by slope and height; later ones cover earlier ones."`
	Paths    []GroundWay   `json:"paths,omitzero" maxitems:"20" jsonschema:"Roads on it."`
	Fine     [3]float64    `json:"fine,omitzero" jsonschema:"x, y and radius of the part with the finest texture; default the middle, 30 m."`
	Horizon  bool          `json:"horizon,omitzero" jsonschema:"Land and hills up to the horizon."`
	Peaks    float64       `json:"peaks,omitzero" default:"110" min:"0" max:"2000" jsonschema:"Height of the hills at the horizon."`
}

// Ridge raises the land along a line.
type Ridge struct {
	Along  [][2]float64 `json:"along" minitems:"2" maxitems:"60" jsonschema:"Points of its crest."`
	Height float64      `json:"height" min:"-200" max:"600" jsonschema:"Of its crest above the land; below 0 it is a valley."`
	Width  float64      `json:"width,omitzero" default:"30" min:"0.5" max:"1000" jsonschema:"From the crest to its foot."`
	Rough  float64      `json:"rough,omitzero" default:"0.3" min:"0" max:"1" jsonschema:"Unevenness, as a fraction of the height."`
}

// Step raises or lowers the land on the left of a line: a cliff, or with a smaller height and a greater
// width a shore.
type Step struct {
	Along  [][2]float64 `json:"along" minitems:"2" maxitems:"60" jsonschema:"Points of its upper edge."`
	Closed bool         `json:"closed,omitzero" jsonschema:"The last point is joined to the first."`
	Height float64      `json:"height" min:"-200" max:"300" jsonschema:"Of the left side; below 0 it is lower."`
	Width  float64      `json:"width,omitzero" default:"3" min:"0.1" max:"300" jsonschema:"Of the slope, to the left of the line."`
	Rough  float64      `json:"rough,omitzero" min:"0" max:"20" jsonschema:"Metres by which the line is uneven."`
}

// River is a bed with flowing water.
type River struct {
	Along [][2]float64 `json:"along" minitems:"2" maxitems:"60" jsonschema:"Points of its middle line, downstream."`
	Width float64      `json:"width,omitzero" default:"6" min:"0.3" max:"200" jsonschema:"Of the water."`
	Depth float64      `json:"depth,omitzero" default:"1" min:"0.1" max:"50" jsonschema:"Of the water."`
	Level [2]float64   `json:"level,omitzero" jsonschema:"Height of the water at its start and end; default 0.5 m below the middle."`
	Bank  float64      `json:"bank,omitzero" default:"4" min:"0.2" max:"100" jsonschema:"Width of each bank."`
	Bed   string       `json:"bed,omitzero" default:"gravel" maxlen:"40" jsonschema:"Material of bed and banks."`
}

// GroundLayer is a material of the ground where slope and height suit it.
type GroundLayer struct {
	Material string      `json:"material" maxlen:"40" jsonschema:"Of the layer."`
	Slope    *[2]float64 `json:"slope,omitzero" min:"0" max:"90" jsonschema:"Degrees from which to which it lies; default all."`
	Height   *[2]float64 `json:"height,omitzero" min:"-500" max:"1000" jsonschema:"Heights from which to which it lies; default all."`
	Share    float64     `json:"share,omitzero" default:"1" min:"0.01" max:"1" jsonschema:"Share of that area; below 1 it lies in patches."`
}

// GroundWay is a road on the ground. Paved materials, such as cobbles, have a sharp edge.
type GroundWay struct {
	Along    [][2]float64 `json:"along" minitems:"2" maxitems:"60" jsonschema:"Points of its middle line."`
	Width    float64      `json:"width,omitzero" default:"3" min:"0.2" max:"60" jsonschema:"Metres."`
	Material string       `json:"material" maxlen:"40" jsonschema:"Of the road."`
}

// Water is a level sheet of water.
type Water struct {
	Level float64     `json:"level,omitzero" min:"-200" max:"200" jsonschema:"Height of its surface."`
	Area  *[4]float64 `json:"area,omitzero" jsonschema:"Least x and y, greatest x and y; default everywhere."`
}

// Material is a material of the scene.
type Material struct {
	Base      string   `json:"base,omitzero" maxlen:"40" jsonschema:"A material that it starts from, such as stone."`
	Color     string   `json:"color,omitzero" pattern:"^#[0-9a-fA-F]{6}$" jsonschema:"Colour in sRGB, such as #8a6a4a; a painted base keeps its pattern."`
	Roughness *float64 `json:"roughness,omitzero" min:"0" max:"1" jsonschema:"0 is a mirror."`
	Metallic  *float64 `json:"metallic,omitzero" min:"0" max:"1" jsonschema:"1 is metal."`
	Glow      float64  `json:"glow,omitzero" min:"0" max:"1000" jsonschema:"Strength of its own light."`
	Wear      float64  `json:"wear,omitzero" min:"0" max:"1" jsonschema:"Stains and bleached patches of a painted base."`
	Wet       float64  `json:"wet,omitzero" min:"0" max:"1" jsonschema:"Darker and smoother."`
}

// Camera is a camera.
type Camera struct {
	At     []float64 `json:"at,omitzero" minitems:"3" maxitems:"3" jsonschema:"Position; default one that shows all."`
	Look   []float64 `json:"look,omitzero" minitems:"3" maxitems:"3" jsonschema:"Point that it looks at."`
	LookAt string    `json:"look_at,omitzero" maxlen:"200" jsonschema:"Path of a part that it looks at; default all."`
	From   []float64 `json:"from,omitzero" minitems:"3" maxitems:"3" min:"-1" max:"1" jsonschema:"Without at: direction to the camera."`
	Lens   float64   `json:"lens,omitzero" default:"35" min:"8" max:"300" jsonschema:"Focal length, for film 36 mm wide."`
	Main   bool      `json:"main,omitzero" jsonschema:"The camera of previews; default the first by name."`
}

// Marker is a named point for a game.
type Marker struct {
	Kind string    `json:"kind" enum:"spawn,door,trigger,sound,point" jsonschema:"Its purpose."`
	At   []float64 `json:"at" minitems:"2" maxitems:"3" jsonschema:"Position."`
	Turn float64   `json:"turn,omitzero" jsonschema:"Degrees about Z."`
	Note string    `json:"note,omitzero" maxlen:"200" jsonschema:"Text for the game, such as the name of a sound."`
}

// Part is one body or a group of parts.
type Part struct {
	Is        string            `json:"is,omitzero" maxlen:"40" pattern:"^[a-z][a-z0-9 _-]*$" jsonschema:"Noun under which descriptions count it; default its kind."`
	At        []float64         `json:"at,omitzero" minitems:"2" maxitems:"3" jsonschema:"Position: x, y, z."`
	Turn      float64           `json:"turn,omitzero" jsonschema:"Degrees about Z."`
	Tilt      []float64         `json:"tilt,omitzero" minitems:"2" maxitems:"2" jsonschema:"Degrees about X, Y."`
	Scale     float64           `json:"scale,omitzero" min:"0.01" max:"100" jsonschema:"Default 1."`
	Facing    []float64         `json:"facing,omitzero" minitems:"2" maxitems:"2" jsonschema:"Point that its front faces."`
	Material  string            `json:"material,omitzero" maxlen:"40" jsonschema:"Of its main surface."`
	Materials map[string]string `json:"materials,omitzero" jsonschema:"By role: wall, roof, trim, door, floor."`
	Ghost     bool              `json:"ghost,omitzero" jsonschema:"Things may stand in it and pass through it."`
	Omit      bool              `json:"omit,omitzero" jsonschema:"Leave out this body of a composite."`
	Repeat    *Repeat           `json:"repeat,omitzero" jsonschema:"Place it many times."`

	Box      *Box      `json:"box,omitzero" jsonschema:"A box that stands on its position."`
	Cylinder *Cylinder `json:"cylinder,omitzero" jsonschema:"A round body: cylinder, cone or frustum."`
	Prism    *Prism    `json:"prism,omitzero" jsonschema:"A body with a regular base."`
	Sphere   *Sphere   `json:"sphere,omitzero" jsonschema:"A sphere around its position."`
	Dome     *Dome     `json:"dome,omitzero" jsonschema:"Half a sphere or ellipsoid."`
	Arch     *Arch     `json:"arch,omitzero" jsonschema:"Two piers with a round arch."`
	Stair    *Stair    `json:"stair,omitzero" jsonschema:"Steps that rise towards +Y, or around a newel."`
	Ramp     *Ramp     `json:"ramp,omitzero" jsonschema:"A sloping slab that rises towards +Y."`
	Wedge    *Wedge    `json:"wedge,omitzero" jsonschema:"A solid slope that rises towards +Y."`
	Extrude  *Extrude  `json:"extrude,omitzero" jsonschema:"A footprint, raised."`
	Lathe    *Lathe    `json:"lathe,omitzero" jsonschema:"A profile, turned about Z."`

	Wall     *Wall     `json:"wall,omitzero" jsonschema:"A wall with openings."`
	Door     *Leaf     `json:"door,omitzero" jsonschema:"The leaf of a door."`
	Window   *Leaf     `json:"window,omitzero" jsonschema:"The frame and glass of a window."`
	Roof     *Roof     `json:"roof,omitzero" jsonschema:"A roof over a rectangle or circle."`
	Plan     *Plan     `json:"plan,omitzero" jsonschema:"A floor plan: rooms with walls, doors and windows."`
	House    *House    `json:"house,omitzero" jsonschema:"A house; its front faces -Y."`
	Tower    *Tower    `json:"tower,omitzero" jsonschema:"A round or square tower; its door faces -Y."`
	Bridge   *Bridge   `json:"bridge,omitzero" jsonschema:"A bridge along X on arches."`
	Palisade *Palisade `json:"palisade,omitzero" jsonschema:"A fence of pointed stakes."`
	Column   *Column   `json:"column,omitzero" jsonschema:"A column with base and capital."`
	Vault    *Vault    `json:"vault,omitzero" jsonschema:"A vaulted ceiling over a rectangle."`

	Cave *Cave `json:"cave,omitzero" jsonschema:"The inside of a cave."`

	Prop  *Prop  `json:"prop,omitzero" jsonschema:"A thing from the store of things."`
	Plant *Plant `json:"plant,omitzero" jsonschema:"A tree or another plant, grown by the rules of its kind."`
	Lamp  *Lamp  `json:"lamp,omitzero" jsonschema:"A light without a body."`
	Use   string `json:"use,omitzero" maxlen:"40" jsonschema:"Name of a part of define."`

	Parts map[string]*Part `json:"parts,omitzero" jsonschema:"Parts of a group, or changes of bodies of a composite."`

	// Inner is a body of a composite that has no name in the language. Only package build sets it.
	Inner Inner `json:"-"`
}

// Inner is a body that only composites have.
type Inner interface{ Kind() string }

// Prop is a thing from the store.
type Prop struct {
	Kind    string             `json:"kind" maxlen:"40" jsonschema:"Such as barrel; an unknown one lists all."`
	Variant int                `json:"variant,omitzero" min:"0" max:"1000" jsonschema:"Another individual of the kind."`
	With    map[string]float64 `json:"with,omitzero" jsonschema:"Measures of its recipe, such as h."`
}

// Plant is a plant that grows from the seed of the scene. Its materials cannot be replaced.
type Plant struct {
	Kind    string  `json:"kind" enum:"alder,apple,birch,bush,fern,flowers,grass,heather,oak,palm,pine,poplar,reed,snag,spruce,willow" jsonschema:"Its species; a snag is a dead tree."`
	Height  float64 `json:"height,omitzero" min:"0.1" max:"60" jsonschema:"Metres; default one that is usual for the kind."`
	Variant int     `json:"variant,omitzero" min:"0" max:"1000" jsonschema:"Another individual of the kind."`
	Season  string  `json:"season,omitzero" enum:"summer,autumn,winter" default:"summer" jsonschema:"Leaves turn and fall."`
}

// Lamp is a point light.
type Lamp struct {
	Watts float64 `json:"watts,omitzero" default:"90" min:"0.1" max:"100000" jsonschema:"Power."`
	Color string  `json:"color,omitzero" default:"#ffcb8f" pattern:"^#[0-9a-fA-F]{6}$" jsonschema:"Colour in sRGB."`
}

// Repeat places a part many times: exactly one arrangement.
type Repeat struct {
	Row     *Row     `json:"row,omitzero" jsonschema:"In a line."`
	Ring    *Ring    `json:"ring,omitzero" jsonschema:"On a circle."`
	Grid    *Grid    `json:"grid,omitzero" jsonschema:"In rows and columns."`
	Along   *Along   `json:"along,omitzero" jsonschema:"Along a line."`
	Scatter *Scatter `json:"scatter,omitzero" jsonschema:"At random free spots."`
	Vary    Vary     `json:"vary,omitzero" jsonschema:"Differences between the members."`

	Members map[string]*Part `json:"members,omitzero" jsonschema:"Changes of single members, by number from 1."`
}

// Row is a line of members.
type Row struct {
	Count int       `json:"count" min:"1" max:"2000" jsonschema:"Members."`
	Step  []float64 `json:"step" minitems:"2" maxitems:"3" min:"-1000" max:"1000" jsonschema:"From each member to the next."`
}

// Ring is a circle of members.
type Ring struct {
	Count  int     `json:"count" min:"1" max:"2000" jsonschema:"Members."`
	Radius float64 `json:"radius" min:"0" max:"2000" jsonschema:"Metres."`
	Start  float64 `json:"start,omitzero" jsonschema:"Angle of the first in degrees; 0 is +X."`
	Arc    float64 `json:"arc,omitzero" default:"360" min:"1" max:"360" jsonschema:"Degrees that the members cover."`
	Face   string  `json:"face,omitzero" enum:"in,out,none" default:"in" jsonschema:"Direction of their fronts."`
}

// Grid is a rectangle of members around the position.
type Grid struct {
	Columns int        `json:"columns" min:"1" max:"500" jsonschema:"Along X."`
	Rows    int        `json:"rows" min:"1" max:"500" jsonschema:"Along Y."`
	Step    [2]float64 `json:"step" min:"0.01" max:"1000" jsonschema:"Between columns and rows."`
}

// Along is a line of members along a path.
type Along struct {
	Path   [][2]float64 `json:"path" minitems:"2" maxitems:"60" jsonschema:"Points of the line."`
	Count  int          `json:"count,omitzero" min:"2" max:"2000" jsonschema:"Members; or give every."`
	Every  float64      `json:"every,omitzero" min:"0.05" max:"1000" jsonschema:"Metres from each to the next."`
	Offset float64      `json:"offset,omitzero" min:"-200" max:"200" jsonschema:"Metres to the left of the line."`
	Sides  bool         `json:"sides,omitzero" jsonschema:"On both sides, alternating, facing the line."`
}

// Scatter is a number of members at random free spots of an area.
type Scatter struct {
	Area    [4]float64  `json:"area" jsonschema:"Least x, least y, greatest x, greatest y."`
	Count   int         `json:"count,omitzero" min:"1" max:"5000" jsonschema:"Members; or give density."`
	Density float64     `json:"density,omitzero" min:"0.000001" max:"10" jsonschema:"Members for each square metre."`
	Apart   float64     `json:"apart,omitzero" default:"1" min:"0" max:"100" jsonschema:"Distance from other things."`
	Slope   float64     `json:"slope,omitzero" default:"38" min:"1" max:"90" jsonschema:"Greatest slope of the ground, in degrees."`
	Avoid   []AvoidDisc `json:"avoid,omitzero" maxitems:"100" jsonschema:"Areas that stay free."`
}

// AvoidDisc is a disc that stays free: x, y and radius.
type AvoidDisc [3]float64

// Vary makes members differ.
type Vary struct {
	Turn      float64             `json:"turn,omitzero" min:"0" max:"360" jsonschema:"Greatest turn, in degrees."`
	Scale     float64             `json:"scale,omitzero" min:"0" max:"0.9" jsonschema:"Greatest change, as a fraction."`
	Shift     float64             `json:"shift,omitzero" min:"0" max:"100" jsonschema:"Greatest shift along X and Y."`
	Variants  int                 `json:"variants,omitzero" min:"1" max:"50" jsonschema:"Individuals of a prop or plant; default 3."`
	Materials map[string][]string `json:"materials,omitzero" jsonschema:"By role, taken in turn; main: Material."`
}
