extends SceneTree
# Counts what a scene holds, and measures it over some frames where asked to.

var job
var out = {"nodes": 0, "meshes": 0, "triangles": 0, "materials": 0, "children": 0}
var frames = 0
var started = 0
var longest = 0
var last = 0

func _init():
	var f = File.new()
	if f.open("res://loregate/job.json", File.READ) != OK:
		return done({"error": "there is no job"})
	job = JSON.parse(f.get_as_text()).result
	f.close()
	var before = OS.get_ticks_usec()
	var packed = load(job["scene"])
	if packed == null or not (packed is PackedScene):
		return done({"error": "the scene cannot be loaded"})
	var scene = packed.instance()
	out["load_ms"] = (OS.get_ticks_usec() - before) / 1000.0
	var materials = {}
	var todo = [scene]
	while not todo.empty():
		var node = todo.pop_back()
		out["nodes"] += 1
		for child in node.get_children():
			todo.append(child)
		if node is MeshInstance and node.mesh != null:
			out["meshes"] += 1
			for i in range(node.mesh.get_surface_count()):
				var n = node.mesh.surface_get_array_index_len(i)
				if n == 0:
					n = node.mesh.surface_get_array_len(i)
				out["triangles"] += int(n / 3)
				var material = node.mesh.surface_get_material(i)
				if material != null:
					materials[material.get_instance_id()] = true
	out["materials"] = materials.size()
	out["children"] = scene.get_child_count()
	if job["frames"] == 0:
		scene.free()
		return done(out)
	get_root().add_child(scene)
	started = OS.get_ticks_usec()
	last = started

func _idle(_delta):
	if started == 0:
		return true
	var now = OS.get_ticks_usec()
	longest = max(longest, now - last)
	last = now
	frames += 1
	if frames < job["frames"]:
		return false
	out["frames"] = frames
	out["frame_ms_mean"] = (now - started) / 1000.0 / frames
	out["frame_ms_longest"] = longest / 1000.0
	out["memory_mb"] = Performance.get_monitor(Performance.MEMORY_STATIC) / 1048576.0
	out["objects"] = Performance.get_monitor(Performance.OBJECT_COUNT)
	out["resources"] = Performance.get_monitor(Performance.OBJECT_RESOURCE_COUNT)
	done(out)
	return true

func done(result):
	print("LOREGATE " + to_json(result))
	quit()
