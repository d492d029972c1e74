package builder

import (
	"math"

	"loregate/internal/studio/scene"
)

// weather is the light of a style.
type weather struct {
	elevation float64 // of the sun
	sky       float64 // strength of the sky light
	color     *[3]float64
	sun       float64 // watts per square metre
	tint      [3]float64
	soft      float64 // angle of the sun's disc
	ozone     float64 // in the atmosphere: more makes low light bluer
	dust      float64
}

var weathers = map[string]weather{
	"day":  {elevation: 0.72, sky: 0.17, ozone: 2, dust: 0.4, sun: 3.8, tint: [3]float64{1, 0.93, 0.82}, soft: 0.01},
	"dusk": {elevation: 0.045, sky: 0.85, ozone: 3.4, dust: 0.5, sun: 1.7, tint: [3]float64{1, 0.5, 0.24}, soft: 0.05},
	"night": {elevation: 0.6, color: &[3]float64{0.012, 0.02, 0.045}, sky: 1, sun: 0.16,
		tint: [3]float64{0.55, 0.68, 1}, soft: 0.02},
	"overcast": {elevation: 0.9, color: &[3]float64{0.52, 0.57, 0.62}, sky: 0.75, sun: 0.9,
		tint: [3]float64{0.95, 0.97, 1}, soft: 0.5},
}

// addLighting adds the sky, the sun and the main camera, which frames the place.
func (y *yard) addLighting() {
	w := weathers[y.read.style]
	// Blender's sky has its sun at +Y when unturned, and turns it clockwise.
	y.Sky(scene.Sky{Elevation: w.elevation, Rotation: math.Pi/2 - y.sun, Strength: w.sky, Color: w.color, Ozone: w.ozone,
		Dust: w.dust})
	up := math.Max(w.elevation, 0.16)
	toSun := scene.Vec{math.Cos(y.sun) * math.Cos(up), math.Sin(y.sun) * math.Cos(up), math.Sin(up)}
	y.Light(scene.Light{Name: y.id + " sun", Kind: "SUN", Energy: w.sun, Color: w.tint, Size: w.soft, Into: y.id,
		Transform: scene.Transform{Location: toSun.Mul(60), Rotation: scene.LookAt(toSun, scene.Vec{})}})
	if y.lens == 0 {
		y.lens = 35
	}
	t := scene.Frame(y.frame, y.from, y.lens)
	if low := y.groundHeight(t.Location[0], t.Location[1]) + 1.2; t.Location[2] < low {
		t.Location[2] = low
		middle := y.frame.Low.Add(y.frame.High).Mul(0.5)
		t.Rotation = scene.LookAt(t.Location, middle)
	}
	y.Camera(y.id+" camera", y.lens, true, t)
}
