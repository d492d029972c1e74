// The 3D view of a scene. Without WebGL, or if the file cannot be shown, the page keeps its picture and tells why.
import { Box3, DirectionalLight, HemisphereLight, PerspectiveCamera, Scene, Spherical, Vector3, WebGLRenderer } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";

const canvas = document.getElementById("model");
const view = canvas.closest(".view");
const problem = view.querySelector(".problem");

// What a phone can hold beside its copy on the graphics card.
const maxBytes = 64 << 20;

// The extensions that GLTFLoader reads without a decoder of its own.
const readable = /^(KHR_(materials_\w+|lights_punctual|texture_transform|mesh_quantization)|EXT_(texture_(webp|avif)|materials_bump|mesh_gpu_instancing))$/;

// A reason for which the scene cannot be shown, for people.
class Reason extends Error {}

function sizeText(bytes) { return (bytes / (1 << 20)).toFixed(1) + " MB"; }

async function load(address) {
  const answer = await fetch(address).catch(() => { throw new Reason("The file could not be loaded. Reload the page to try again."); });
  const size = Number(answer.headers.get("content-length"));
  if (size > maxBytes) {
    answer.body.cancel();
    throw new Reason("The file has " + sizeText(size) + ", and this view shows at most " + sizeText(maxBytes) + ".");
  }
  if (!answer.ok || answer.redirected) throw new Reason("The file could not be loaded. Reload the page to try again.");
  return answer.arrayBuffer();
}

// The JSON of a GLB file stands first in it, behind three numbers for the file and two for itself.
function readScene(data) {
  try {
    const head = new DataView(data);
    if (head.getUint32(0, true) !== 0x46546c67) throw new Error("no GLB");
    return JSON.parse(new TextDecoder().decode(new Uint8Array(data, 20, head.getUint32(12, true))));
  } catch {
    throw new Reason("The file is damaged: it is no whole GLB file.");
  }
}

async function parse(data) {
  const missing = (readScene(data).extensionsRequired ?? []).filter((name) => !readable.test(name));
  if (missing.length > 0) throw new Reason("The file needs " + missing.join(", ") + ", which this view does not read.");
  return new GLTFLoader().parseAsync(data, "").catch(() => { throw new Reason("The file is damaged: a part of it cannot be read."); });
}

function makeRenderer() {
  try {
    return new WebGLRenderer({ canvas, antialias: true, alpha: true });
  } catch {
    throw new Reason("This browser has no WebGL, or it is switched off.");
  }
}

// The scene's own lights have the strength of a renderer that traces light; in this view they are replaced.
function light(scene) {
  scene.traverse((node) => { if (node.isLight) node.intensity = 0; });
  const sun = new DirectionalLight(0xfff4e0, 2.2);
  sun.position.set(0.6, 1, 0.8);
  scene.add(new HemisphereLight(0xdfe9f5, 0x6b5f4a, 1.8), sun);
}

async function show() {
  const renderer = makeRenderer();
  const { scene: model, cameras } = await parse(await load(canvas.dataset.model));
  const scene = new Scene();
  scene.add(model);
  light(scene);

  const box = new Box3().setFromObject(model);
  const center = box.getCenter(new Vector3());
  const radius = Math.max(box.getSize(new Vector3()).length() / 2, 0.01);
  const camera = new PerspectiveCamera(45, 1, radius / 100, radius * 20);
  const controls = new OrbitControls(camera, canvas);
  const render = () => renderer.render(scene, camera);
  controls.addEventListener("change", render);
  controls.minDistance = radius / 20;
  controls.maxDistance = radius * 8;

  const showWhole = () => {
    const far = radius / Math.sin((camera.fov / 2) * Math.PI / 180) / Math.min(camera.aspect, 1);
    controls.target.copy(center);
    camera.position.copy(center).addScaledVector(new Vector3(1, 0.7, 1.2).normalize(), far);
    controls.update();
    render();
  };
  const resize = () => {
    renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    renderer.setSize(view.clientWidth, Math.round(Math.min(view.clientWidth * 0.62, innerHeight * 0.75)));
    camera.aspect = canvas.width / canvas.height;
    camera.updateProjectionMatrix();
    render();
  };

  // Turning and nearing, for the buttons and the keys.
  const move = (turn, rise, near) => {
    const from = new Spherical().setFromVector3(camera.position.clone().sub(controls.target));
    from.theta += turn;
    from.phi = Math.min(Math.max(from.phi + rise, 0.05), Math.PI - 0.05);
    from.radius *= near;
    camera.position.setFromSpherical(from).add(controls.target);
    controls.update();
    render();
  };
  const moves = { left: () => move(-0.3, 0, 1), right: () => move(0.3, 0, 1), up: () => move(0, -0.2, 1), down: () => move(0, 0.2, 1),
    nearer: () => move(0, 0, 0.8), further: () => move(0, 0, 1.25), whole: showWhole };
  // The scene's own cameras, as they see into rooms.
  cameras.slice(0, 6).forEach((seen, i) => {
    const at = seen.getWorldPosition(new Vector3());
    const ahead = seen.getWorldDirection(new Vector3());
    moves["camera" + i] = () => {
      camera.position.copy(at);
      controls.target.copy(at).addScaledVector(ahead, radius / 4);
      controls.update();
      render();
    };
    const button = document.createElement("button");
    button.type = "button";
    button.className = "small";
    button.dataset.move = "camera" + i;
    button.textContent = cameras.length > 1 ? "Camera " + (i + 1) : "Its camera";
    view.querySelector(".actions").append(button);
  });
  const keys = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", "+": "nearer", "-": "further", 0: "whole" };
  view.addEventListener("click", (event) => moves[event.target.dataset.move]?.());
  canvas.addEventListener("keydown", (event) => {
    if (!keys[event.key]) return;
    event.preventDefault();
    moves[keys[event.key]]();
  });

  for (const part of view.querySelectorAll("[hidden]:not(.problem)")) part.hidden = false;
  view.querySelector(".still")?.remove();
  addEventListener("resize", resize);
  resize();
  showWhole();
  view.dataset.state = "shown";
}

show().catch((error) => {
  if (!(error instanceof Reason)) console.error(error);
  problem.querySelector("p").textContent = error instanceof Reason ? error.message : "The scene cannot be drawn here.";
  problem.hidden = false;
  view.querySelector(".still .empty")?.remove();
  view.dataset.state = "failed";
});
