package builder

import (
	"cmp"
	"math"

	"loregate/internal/studio/scene"
)

// addLighting adds the sky, the sun and the main camera, which frames the place.
func (y *yard) addLighting() {
	sky, sun := y.style.Sky, y.style.Sun
	// Blender's sky has its sun at +Y when unturned, and turns it clockwise.
	sky.Rotation = math.Pi/2 - y.sun
	y.Sky(sky)
	up := math.Max(sky.Elevation, 0.16)
	toSun := scene.Vec{math.Cos(y.sun) * math.Cos(up), math.Sin(y.sun) * math.Cos(up), math.Sin(up)}
	sun.Name, sun.Kind, sun.Into = y.id+" sun", "SUN", y.id
	sun.Transform = scene.Transform{Location: toSun.Mul(60), Rotation: scene.LookAt(toSun, scene.Vec{})}
	y.Light(sun)
	y.lens = cmp.Or(y.lens, 35)
	t := scene.Frame(y.frame, y.from, y.lens)
	if low := y.groundHeight(t.Location[0], t.Location[1]) + 1.2; t.Location[2] < low {
		t.Location[2] = low
		middle := y.frame.Low.Add(y.frame.High).Mul(0.5)
		t.Rotation = scene.LookAt(t.Location, middle)
	}
	y.Camera(y.id+" camera", y.lens, true, t)
}
