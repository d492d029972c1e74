package spec

// Box is a box.
type Box struct {
	Size  [3]float64 `json:"size" min:"0.01" max:"2000" jsonschema:"Along X, Y and Z."`
	Taper float64    `json:"taper,omitzero" min:"0" max:"0.99" jsonschema:"Fraction by which the top is smaller."`
}

// Cylinder is a round body.
type Cylinder struct {
	Radius float64  `json:"radius" min:"0.01" max:"500" jsonschema:"Of the base."`
	Height float64  `json:"height" min:"0.01" max:"1000" jsonschema:"Metres."`
	Top    *float64 `json:"top,omitzero" min:"0" max:"500" jsonschema:"Radius of the top; 0 makes a cone."`
	Sides  int      `json:"sides,omitzero" default:"24" min:"3" max:"96" jsonschema:"Faces around."`
}

// Prism is a body with a regular base.
type Prism struct {
	Sides  int      `json:"sides" min:"3" max:"24" jsonschema:"Of the base."`
	Radius float64  `json:"radius" min:"0.01" max:"500" jsonschema:"From the middle to the corners."`
	Height float64  `json:"height" min:"0.01" max:"1000" jsonschema:"Metres."`
	Top    *float64 `json:"top,omitzero" min:"0" max:"500" jsonschema:"Radius of the top; 0 makes a pyramid."`
}

// Sphere is a sphere.
type Sphere struct {
	Radius float64 `json:"radius" min:"0.01" max:"500" jsonschema:"Metres."`
	Rough  float64 `json:"rough,omitzero" min:"0" max:"0.5" jsonschema:"Random displacement, as a fraction."`
}

// Dome is half an ellipsoid.
type Dome struct {
	Radius float64 `json:"radius" min:"0.05" max:"500" jsonschema:"Metres."`
	Height float64 `json:"height,omitzero" min:"0.05" max:"500" jsonschema:"Default the radius."`
}

// Arch is two piers with an arch.
type Arch struct {
	Span   float64 `json:"span" min:"0.3" max:"100" jsonschema:"Clear width."`
	Height float64 `json:"height" min:"0.3" max:"200" jsonschema:"Clear height at the crown."`
	Depth  float64 `json:"depth,omitzero" default:"0.6" min:"0.05" max:"100" jsonschema:"Along Y."`
	Band   float64 `json:"band,omitzero" default:"0.4" min:"0.05" max:"20" jsonschema:"Width of the stones."`
}

// Stair is a stair.
type Stair struct {
	Height float64 `json:"height" min:"0.1" max:"300" jsonschema:"Rise of the whole."`
	Width  float64 `json:"width,omitzero" default:"1.2" min:"0.2" max:"100" jsonschema:"Metres."`
	Length float64 `json:"length,omitzero" min:"0.1" max:"500" jsonschema:"Along Y; default a slope that people climb."`
	Spiral float64 `json:"spiral,omitzero" min:"0" max:"50" jsonschema:"Inner radius of a winding stair."`
	Open   bool    `json:"open,omitzero" jsonschema:"Treads without a solid below."`
}

// Ramp is a sloping slab.
type Ramp struct {
	Size  [3]float64 `json:"size" min:"0.01" max:"1000" jsonschema:"Width, length and rise."`
	Thick float64    `json:"thick,omitzero" default:"0.2" min:"0.01" max:"20" jsonschema:"Of the slab."`
}

// Wedge is a solid slope.
type Wedge struct {
	Size [3]float64 `json:"size" min:"0.01" max:"1000" jsonschema:"Width, length and rise."`
}

// Extrude is a raised footprint.
type Extrude struct {
	Outline [][2]float64 `json:"outline" minitems:"3" maxitems:"200" jsonschema:"Corners, counter-clockwise from above."`
	Height  float64      `json:"height" min:"0.01" max:"1000" jsonschema:"Metres."`
}

// Lathe is a turned profile.
type Lathe struct {
	Profile [][2]float64 `json:"profile" minitems:"2" maxitems:"100" jsonschema:"Radius and height, from the base up."`
	Sides   int          `json:"sides,omitzero" default:"24" min:"3" max:"96" jsonschema:"Faces around."`
	Flat    bool         `json:"flat,omitzero" jsonschema:"Faces are flat instead of smooth."`
}

// Wall is a straight wall, a chain of walls, or a round wall.
type Wall struct {
	Along    [][2]float64 `json:"along,omitzero" minitems:"2" maxitems:"60" jsonschema:"Corners of its middle line; its outer side is on the right. Or give length or radius."`
	Closed   bool         `json:"closed,omitzero" jsonschema:"The last corner is joined to the first."`
	Length   float64      `json:"length,omitzero" min:"0.1" max:"2000" jsonschema:"Along X, around the position."`
	Radius   float64      `json:"radius,omitzero" min:"0.5" max:"500" jsonschema:"Outer radius of a round wall."`
	Taper    float64      `json:"taper,omitzero" min:"0" max:"0.6" jsonschema:"Fraction by which its top is narrower."`
	Height   float64      `json:"height" min:"0.1" max:"300" jsonschema:"Metres."`
	Thick    float64      `json:"thick,omitzero" default:"0.4" min:"0.05" max:"20" jsonschema:"Metres."`
	Crown    string       `json:"crown,omitzero" enum:"plain,battlements" jsonschema:"Its top; default plain."`
	Openings []Opening    `json:"openings,omitzero" maxitems:"100" jsonschema:"Doors, windows and slits."`
}

// Opening is an opening, or a rule for several.
type Opening struct {
	Name   string     `json:"name,omitzero" maxlen:"40" pattern:"^[a-z][a-z0-9_-]*$" jsonschema:"Default by kind."`
	Kind   string     `json:"kind" enum:"door,gate,window,slit,arch" jsonschema:"Arches have no leaf, slits no glass."`
	Wall   int        `json:"wall,omitzero" min:"0" max:"60" jsonschema:"Which wall of a chain, from 0."`
	At     *float64   `json:"at,omitzero" min:"-720" max:"2000" jsonschema:"Its middle: metres from the start of the wall, or degrees on a round wall, where -90 is the front; default the middle."`
	Count  int        `json:"count,omitzero" min:"1" max:"200" jsonschema:"As many, evenly spaced; then at is not used."`
	Size   [2]float64 `json:"size,omitzero" min:"0" max:"50" jsonschema:"Width and height; default by kind."`
	Sill   *float64   `json:"sill,omitzero" min:"0" max:"300" jsonschema:"Height of its lower edge; default by kind."`
	Arched bool       `json:"arched,omitzero" jsonschema:"With a round head."`
	Lit    bool       `json:"lit,omitzero" jsonschema:"Light behind the glass."`
}

// Leaf is the leaf of a door or the glass of a window.
type Leaf struct {
	Size   [2]float64 `json:"size" min:"0.05" max:"50" jsonschema:"Width and height."`
	Arched bool       `json:"arched,omitzero" jsonschema:"With a round head."`
	Lit    bool       `json:"lit,omitzero" jsonschema:"Light behind the glass."`
	Bars   bool       `json:"bars,omitzero" jsonschema:"Iron bars instead of planks or glass."`
	Ajar   float64    `json:"ajar,omitzero" min:"0" max:"120" jsonschema:"Degrees by which a door is open."`
}

// Roof is a roof.
type Roof struct {
	Form   string     `json:"form" enum:"gable,hip,thatch,flat,spire" jsonschema:"thatch is a thick, rounded gable."`
	Size   [2]float64 `json:"size,omitzero" min:"0" max:"500" jsonschema:"Of the walls along X and Y; or give radius."`
	Radius float64    `json:"radius,omitzero" min:"0" max:"200" jsonschema:"Of a round spire or flat roof."`
	Height float64    `json:"height,omitzero" min:"0" max:"200" jsonschema:"From the walls to the ridge; default by form."`
	Eaves  float64    `json:"eaves,omitzero" default:"0.5" min:"0" max:"5" jsonschema:"Overhang."`
	Crown  string     `json:"crown,omitzero" enum:"plain,battlements" jsonschema:"Edge of a flat roof."`
}

// Plan is a floor plan of one storey. Rooms that touch share a wall.
type Plan struct {
	Rooms   map[string][4]float64 `json:"rooms" jsonschema:"Least x and y, greatest x and y, to the middle of walls."`
	Height  float64               `json:"height,omitzero" default:"3" min:"1" max:"50" jsonschema:"Of the walls."`
	Thick   float64               `json:"thick,omitzero" default:"0.3" min:"0.05" max:"5" jsonschema:"Of the walls."`
	Doors   []PlanDoor            `json:"doors,omitzero" maxitems:"100" jsonschema:"Doors between rooms."`
	Windows []PlanWindows         `json:"windows,omitzero" maxitems:"100" jsonschema:"Rows of windows."`
	Ceiling bool                  `json:"ceiling,omitzero" jsonschema:"With a flat ceiling."`
}

// PlanDoor is a door between two rooms, in the middle of their common wall.
type PlanDoor struct {
	Between [2]string  `json:"between" maxlen:"40" jsonschema:"Two rooms, or a room and outside."`
	Side    string     `json:"side,omitzero" enum:"south,east,north,west" default:"south" jsonschema:"With outside; south is -Y."`
	Kind    string     `json:"kind,omitzero" enum:"door,gate,arch" default:"door" jsonschema:"Kind of opening."`
	Size    [2]float64 `json:"size,omitzero" min:"0" max:"20" jsonschema:"Width and height; default by kind."`
}

// PlanWindows is a row of windows in one side of a room.
type PlanWindows struct {
	Room  string `json:"room" maxlen:"40" jsonschema:"The room."`
	Side  string `json:"side" enum:"south,east,north,west" jsonschema:"Its side; south is -Y."`
	Count int    `json:"count,omitzero" default:"1" min:"1" max:"50" jsonschema:"Windows."`
	Lit   bool   `json:"lit,omitzero" jsonschema:"Light behind the glass."`
}

// House is a house. Roles of materials: wall, upper, roof, trim, door, chimney. Bodies: base,
// storey-1 and so on, roof, chimney.
type House struct {
	Size    [2]float64 `json:"size" min:"2" max:"100" jsonschema:"Width and depth."`
	Storeys int        `json:"storeys,omitzero" default:"1" min:"1" max:"8" jsonschema:"Floors below the roof."`
	Storey  float64    `json:"storey,omitzero" default:"2.7" min:"2" max:"10" jsonschema:"Height of each."`
	Roof    string     `json:"roof,omitzero" enum:"gable,hip,thatch,flat" default:"gable" jsonschema:"Its form."`
	Pitch   float64    `json:"pitch,omitzero" default:"1" min:"0.1" max:"4" jsonschema:"Rise for each metre of half the depth."`
	Windows int        `json:"windows,omitzero" default:"2" min:"0" max:"20" jsonschema:"On the front of each floor."`
	Frame   bool       `json:"frame,omitzero" jsonschema:"Timber framing."`
	Chimney bool       `json:"chimney,omitzero" jsonschema:"With a chimney."`
	Lit     bool       `json:"lit,omitzero" jsonschema:"Light behind the windows."`
}

// Tower is a tower. Roles of materials: wall, roof, trim, door, floor. Bodies: plinth, shaft,
// floor-1 and so on, crown or roof, stair.
type Tower struct {
	Radius  float64 `json:"radius,omitzero" min:"1" max:"60" jsonschema:"Outer radius of a round tower; or give side."`
	Side    float64 `json:"side,omitzero" min:"2" max:"100" jsonschema:"Outer side of a square tower."`
	Height  float64 `json:"height" min:"3" max:"200" jsonschema:"Of the walls."`
	Storeys int     `json:"storeys,omitzero" min:"1" max:"20" jsonschema:"Floors; default one for each 4.5 m."`
	Thick   float64 `json:"thick,omitzero" default:"0.8" min:"0.2" max:"10" jsonschema:"Of the walls."`
	Taper   float64 `json:"taper,omitzero" min:"0" max:"0.5" jsonschema:"Fraction by which its top is narrower."`
	Top     string  `json:"top,omitzero" enum:"battlements,spire,flat" default:"battlements" jsonschema:"Its top."`
	Door    bool    `json:"door,omitzero" jsonschema:"A door at the foot."`
	Slits   int     `json:"slits,omitzero" min:"0" max:"24" jsonschema:"Arrow slits on each floor."`
	Windows int     `json:"windows,omitzero" min:"0" max:"24" jsonschema:"Windows on each floor above the first."`
	Stair   string  `json:"stair,omitzero" enum:"none,inside,outside" default:"none" jsonschema:"A winding stair inside, or steps up to the door, which is then raised."`
	Lit     bool    `json:"lit,omitzero" jsonschema:"Light behind the windows."`
}

// Bridge is a bridge.
type Bridge struct {
	Length float64 `json:"length" min:"2" max:"500" jsonschema:"Along X."`
	Width  float64 `json:"width,omitzero" default:"3" min:"0.5" max:"50" jsonschema:"Metres."`
	Height float64 `json:"height,omitzero" default:"4" min:"0.5" max:"100" jsonschema:"Of the deck above the position."`
	Arches int     `json:"arches,omitzero" default:"1" min:"1" max:"40" jsonschema:"Below the deck."`
	Rise   float64 `json:"rise,omitzero" min:"0" max:"20" jsonschema:"By which the middle of the deck is higher."`
}

// Palisade is a fence of stakes.
type Palisade struct {
	Along  [][2]float64 `json:"along" minitems:"2" maxitems:"60" jsonschema:"Corners."`
	Closed bool         `json:"closed,omitzero" jsonschema:"The last corner is joined to the first."`
	Height float64      `json:"height,omitzero" default:"3" min:"0.5" max:"20" jsonschema:"Metres."`
	Gap    float64      `json:"gap,omitzero" min:"0" max:"50" jsonschema:"Width of a gap in the middle of the first side."`
}

// Column is a column.
type Column struct {
	Height float64 `json:"height" min:"0.3" max:"200" jsonschema:"Metres."`
	Radius float64 `json:"radius,omitzero" min:"0.05" max:"20" jsonschema:"Default a tenth of the height."`
	Form   string  `json:"form,omitzero" enum:"round,fluted,square,broken" default:"round" jsonschema:"Its shaft."`
}

// Vault is a ceiling over a rectangle; its lower edge is at the position.
type Vault struct {
	Size  [2]float64 `json:"size" min:"0.5" max:"300" jsonschema:"Along X and Y."`
	Rise  float64    `json:"rise,omitzero" min:"0.1" max:"100" jsonschema:"Of the crown; default half the width."`
	Thick float64    `json:"thick,omitzero" default:"0.3" min:"0.05" max:"10" jsonschema:"Metres."`
	Form  string     `json:"form,omitzero" enum:"barrel,cross" default:"barrel" jsonschema:"A barrel runs along Y."`
}

// Cave is the inside of a cave: tunnels and chambers that are carved out of rock, with a flat floor.
// Roles of materials: main for the rock, floor.
type Cave struct {
	Tunnels  []Tunnel     `json:"tunnels,omitzero" maxitems:"10" jsonschema:"Tunnels; where they meet, they open."`
	Chambers [][4]float64 `json:"chambers,omitzero" maxitems:"20" jsonschema:"x, y, height of the floor, radius."`
	Rough    float64      `json:"rough,omitzero" default:"0.5" min:"0" max:"3" jsonschema:"Unevenness, in metres."`
}

// Tunnel is a tunnel of a cave.
type Tunnel struct {
	Path   [][3]float64 `json:"path" minitems:"2" maxitems:"20" jsonschema:"Points of the middle of its floor."`
	Radius float64      `json:"radius,omitzero" default:"2" min:"0.6" max:"40" jsonschema:"Half its width."`
	Open   string       `json:"open,omitzero" enum:"none,start,end,both" default:"none" jsonschema:"Ends without rock."`
}
