// How a private mean is made: records, a ball that clips them, their average, a cloud of releases.

import {
  RADII, average, choiceOdds, clipped, clippedAverage, distance, length, noiseStd, placeAt, radiusGrid,
  squaredParts,
} from "./clipping.js"
import { bestOf, drawBars, drawCurve, short } from "./errors.js"
import { arrow, cross, dot, label, line, plane, ring } from "./canvas.js"
import { drawTexts } from "./texts.js"

const TICKS = 200
const VIEW = 8 // half the width of the plane of records
const GROW_MS = 350

const toRadius = (tick) => RADII[0] * (RADII[1] / RADII[0]) ** (tick / TICKS)
const toTick = (radius) =>
  Math.round((TICKS * Math.log(radius / RADII[0])) / Math.log(RADII[1] / RADII[0]))
// What the controls say, and the numbers that follow from it.
const situation = ({ data, at, radius, moved, choosing, view, zoom, floor }) => {
  const n = data.sizes[at.n]
  const [top, target, epsilon, left] = data.choices[at.p][at.n][at.epsilon]
  const rho = choosing ? left : data.rhos[at.epsilon]
  const points = data.records[at.p].slice(0, n)
  const neighbour = moved ? [moved, ...points.slice(1)] : null
  const release = clippedAverage(points, radius)
  return {
    n, rho, points, neighbour, release, radius, view, zoom, floor,
    place: moved,
    unclipped: radius === Infinity,
    choice: { radii: data.ladders[at.n].map((share) => share * top), target, epsilon, left },
    mean: data.means[at.p],
    law: data.laws[at.p],
    plain: average(points),
    std: noiseStd(radius, n, rho),
    blind: data.radii[at.p][at.n][at.epsilon],
    parts: squaredParts(data.laws[at.p], radius, n, rho),
    moved: neighbour && clippedAverage(neighbour, radius),
  }
}

// How a private choice of the radius falls out: its odds, and how far the error is from the best.
const oddsOf = ({ points, choice }) => choice.epsilon
  ? choiceOdds(points, choice.radii, choice.target, choice.epsilon)
  : choice.radii.map((_, i) => (i ? 0 : 1))

const choosing = ({ points, n, law, rho, choice }) => {
  const odds = oddsOf({ points, choice })
  const squares = choice.radii.map((radius) => squaredParts(law, radius, n, rho).total)
  const order = odds.map((_, i) => i).sort((a, b) => squares[a] - squares[b])
  return { odds, half: squares[order[placeAt(order.map((i) => odds[i]), 0.5)]] }
}

const errorCurve = ({ n, law, rho }) =>
  radiusGrid(...RADII, 81).map((radius) => ({ radius, ...squaredParts(law, radius, n, rho) }))

// A record that lies outside the plane is drawn at its edge, in its direction.
const inView = (point, limit) => {
  const far = Math.max(Math.abs(point[0]), Math.abs(point[1])) / limit
  return far > 1 ? [point[0] / far, point[1] / far] : point
}

const drawRecords = (picture, now, drawn) => {
  const { colours } = picture
  const place = plane(picture.canvas.records, { centre: [0, 0], size: now.view })
  picture.place = place
  const edge = now.view * 0.98
  for (const point of drawn) {
    if (length(point) <= now.radius) continue
    line(place, inView(point, edge), clipped(point, now.radius), colours.lost, 1.5)
  }
  if (!now.unclipped) ring(place, [0, 0], now.radius, colours.method)
  for (const point of drawn) {
    const outside = length(point) > now.radius
    if (outside) dot(place, inView(point, edge), 2.5, colours.lost)
    dot(place, clipped(point, now.radius), 2.5, outside ? colours.method : colours.record)
  }
  if (now.neighbour) {
    const at = inView(now.place, edge)
    dot(place, at, 7, colours.other)
    line(place, at, clipped(now.place, now.radius), colours.other, 1.5)
    label(place, at, "your record", picture.type)
  }
  cross(place, now.mean, colours.ink)
  label(place, now.mean, "true mean", picture.type, true)
}

// The size of the magnified plane follows the data, not the hand: a cloud that grows must be seen to.
const meansView = (now) => {
  const clipped = clippedAverage(now.points, now.blind)
  const far = Math.hypot(distance(clipped, now.mean), Math.SQRT2 * noiseStd(now.blind, now.n, now.rho))
  return { centre: now.mean, size: (2.6 / now.zoom) * Math.max(far, distance(now.plain, now.mean)) }
}

const drawMeans = (picture, now) => {
  const { colours, data, state } = picture
  const half = meansView(now)
  const place = plane(picture.canvas.means, half)
  const released = (centre, z) => [centre[0] + now.std * z[0], centre[1] + now.std * z[1]]
  const cloud = shows(picture, "cloud") && !now.unclipped
  if (cloud && now.moved) {
    for (const z of data.noise) dot(place, released(now.moved, z), 2, colours.otherFaint)
  }
  if (cloud) for (const z of data.noise) dot(place, released(now.release, z), 2, colours.faint)
  arrow(place, now.plain, now.release, colours.lost)
  if (now.moved && !cloud) arrow(place, now.release, now.moved, colours.other)
  dot(place, now.plain, 4, colours.record)
  if (!now.unclipped) dot(place, now.release, 5, colours.method)
  if (now.moved) dot(place, now.moved, 5, colours.other)
  const end = cloud ? released(now.release, data.noise[state.run % data.noise.length])
    : now.moved || now.release
  if (cloud) {
    line(place, now.release, end, colours.method)
    dot(place, end, 7, colours.method)
  }
  cross(place, now.mean, colours.ink)
  label(place, now.mean, "true mean", picture.type, end[1] > now.mean[1])
  const name = cloud ? "released" : now.moved ? "average with your record" : "average"
  label(place, end, name, picture.type, end[1] <= now.mean[1])
  picture.find(".zoom").textContent = `Magnified ${short(now.view / half.size)} times.`
}

// A state may leave parts of the picture out; its own page shows them all.
const shows = ({ state }, part) => !state.parts || state.parts.includes(part)

const showParts = (picture, main) => {
  for (const element of picture.all("[data-part]")) {
    element.hidden = !shows(picture, element.dataset.part)
    element.classList.toggle("main", element.dataset.part === main)
  }
}

// `seen` is what is drawn while the state changes: other points, another circle.
const draw = (picture, { points, ...seen } = {}) => {
  const { state } = picture
  const now = situation({ ...state, ...seen })
  const key = [state.at.n, state.at.epsilon, state.at.p, state.choosing].join()
  if (picture.curveOf !== key) [picture.curve, picture.curveOf] = [errorCurve(now), key]
  now.best = bestOf(picture.curve).total
  if (state.choosing) Object.assign(now.choice, choosing(now))
  picture.now = now
  drawRecords(picture, now, points || now.points)
  drawMeans(picture, now)
  if (!now.unclipped) {
    drawBars(picture, now)
    drawCurve(picture, now, picture.curve)
  }
  drawTexts(picture, now)
}

// At most one drawing for each frame of the screen.
const redraw = (picture) => {
  if (picture.waiting) return
  picture.waiting = requestAnimationFrame(() => {
    picture.waiting = 0
    draw(picture)
  })
}

const between = (a, b, share) => a.map((x, i) => x + share * (b[i] - x))
const scaled = (a, b, share) => a * (b / a) ** share

// From one state to another: records travel to their places, the circle grows or shrinks, the plane
// is seen from nearer or farther. At once for who asks for stillness.
const travel = (picture, before, points = situation(before).points) => {
  const { state } = picture
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches
  const start = performance.now()
  const open = Math.min(before.radius, state.radius) === Infinity
  const wide = ({ radius }) => Math.min(radius, 1.5 * Math.max(before.view, state.view))
  const journey = (picture.journey = {})
  const step = (time) => {
    if (picture.journey !== journey) return
    const share = still ? 1 : Math.min(1, (time - start) / GROW_MS)
    if (share === 1) return draw(picture)
    const to = situation(state).points
    draw(picture, {
      points: to.map((point, i) => between(points[i] || [0, 0], point, share)),
      radius: open ? Infinity : scaled(wide(before), wide(state), share),
      view: scaled(before.view, state.view, share),
      zoom: scaled(before.zoom, state.zoom, share),
      moved: state.moved && between(before.moved || to[0], state.moved, share),
    })
    requestAnimationFrame(step)
  }
  step(start)
}

const setRadius = (picture, radius, choosing = false) => {
  picture.state.choosing = choosing
  picture.state.radius = Math.min(RADII[1], Math.max(RADII[0], radius))
  picture.find("input[name=radius]").value = toTick(picture.state.radius)
  redraw(picture)
}

// Go to a state that a page describes; what the hand has done before is forgotten.
//   at: places of n, epsilon and p among their values; radius: null clips nothing;
//   moved: where the changed record lies, "worst", or null;
//   view: half the width of the plane of records; zoom: of that of averages;
//   parts: what is shown; main: what a small screen shows of it; floor: of the error, or null.
export const setState = (picture, { at, radius, moved, view, zoom, parts, main, floor }) => {
  const { state } = picture
  const before = { ...state }
  Object.assign(state, { at: { ...at }, view, zoom, parts, floor, choosing: false })
  state.radius = radius ?? Infinity
  state.moved = moved === "worst" ? worstPlace(situation({ ...state, moved: null })) : moved
  for (const name of ["n", "epsilon", "p"]) picture.find(`input[name=${name}]`).value = at[name]
  picture.find("input[name=radius]").value = toTick(Math.min(RADII[1], state.radius))
  picture.canvas.records.tabIndex = moved ? 0 : -1
  showParts(picture, main)
  travel(picture, before)
}

// Another private choice, of those whose luck Python drew.
const choosePrivately = (picture) => {
  const { state, now } = picture
  const { uniforms } = state.data
  state.choices += 1
  const place = placeAt(oddsOf(now), uniforms[state.choices % uniforms.length])
  setRadius(picture, now.choice.radii[place], true)
}

// The place that moves the average most: on the far side of the ball.
const worstPlace = ({ points, radius }) => {
  const size = length(points[0]) || 1
  return points[0].map((x) => (-x / size) * Math.max(radius, 1) * 1.1)
}

const pointerAt = (picture, event) => {
  const { records } = picture.canvas
  const box = records.getBoundingClientRect()
  const [left, top] = [box.left + records.clientLeft, box.top + records.clientTop]
  return picture.place.toWorld([event.clientX - left, event.clientY - top])
}

const listenToPlane = (picture) => {
  const { state, canvas: { records } } = picture
  let held = null
  records.onpointerdown = (event) => {
    const at = pointerAt(picture, event)
    const near = (point) => Math.hypot(at[0] - point[0], at[1] - point[1]) * picture.place.scale < 24
    held = state.moved && near(inView(state.moved, state.view * 0.98)) ? "record" : "radius"
    records.setPointerCapture(event.pointerId)
    records.onpointermove(event)
  }
  records.onpointermove = (event) => {
    if (!held) return
    const at = pointerAt(picture, event)
    if (held === "radius") setRadius(picture, length(at))
    else state.moved = at
    redraw(picture)
  }
  records.onpointerup = records.onpointercancel = () => (held = null)
  records.onkeydown = (event) => {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }
    const step = steps[event.key]
    if (!step || !state.moved) return
    event.preventDefault()
    state.moved = state.moved.map((x, i) => x + step[i] * state.view / 40)
    redraw(picture)
  }
}

const listenToControls = (picture) => {
  const { state, data } = picture
  const input = (name) => picture.find(`input[name=${name}]`)
  input("radius").oninput = (event) => {
    state.radius = toRadius(Number(event.target.value))
    state.choosing = false
    redraw(picture)
  }
  for (const [name, values] of [["n", data.sizes], ["epsilon", data.epsilons], ["p", data.orders]]) {
    input(name).max = values.length - 1
    input(name).value = state.at[name]
    input(name).oninput = (event) => {
      const before = { ...state, at: { ...state.at } }
      state.at[name] = Number(event.target.value)
      state.choosing = false
      if (name === "p") travel(picture, before)
      else redraw(picture)
    }
  }
  const press = (name, action) => {
    picture.find(`button[name=${name}]`).onclick = () => {
      action()
      redraw(picture)
    }
  }
  press("again", () => (state.run += 1))
  press("blind", () => setRadius(picture, picture.now.blind))
  press("private", () => choosePrivately(picture))
  press("best", () => setRadius(picture, bestOf(picture.curve).radius))
  press("worst", () => (state.moved = worstPlace(picture.now)))
  press("change", () => {
    state.moved = state.moved ? null : picture.now.points[0]
    picture.canvas.records.tabIndex = state.moved ? 0 : -1
  })
}

// How words on a canvas look: those of the page.
const typeOf = (element, { ink }) => {
  const style = getComputedStyle(element)
  return { ink, page: style.getPropertyValue("--page"), font: style.fontFamily }
}

// Draw the picture into `root`, which holds its markup. Called again with other data, it begins anew.
export const show = (root, data) => {
  const old = root.picture
  if (old && old.data.id === data.id) {
    old.colours = data.colours
    old.type = typeOf(old.find(".picture"), data.colours)
    redraw(old)
    return old
  }
  const [n, epsilon, p] = data.start
  const at = { n, epsilon, p }
  const state = { data, at, run: 0, moved: null, choices: -1, view: VIEW, zoom: 1 }
  state.radius = data.radii[p][n][epsilon]
  const find = (query) => root.querySelector(query)
  const picture = {
    data, state, find,
    colours: data.colours,
    type: typeOf(find(".picture"), data.colours),
    all: (query) => root.querySelectorAll(query),
    canvas: { records: find(".records"), means: find(".means") },
  }
  root.picture = picture
  listenToPlane(picture)
  listenToControls(picture)
  setRadius(picture, state.radius)
  travel(picture, state, [])
  new ResizeObserver(() => redraw(picture)).observe(picture.canvas.records)
  return picture
}

export default function ({ data, parentElement }) {
  show(parentElement, data)
}
