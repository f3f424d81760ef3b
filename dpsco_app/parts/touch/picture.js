// How a private mean is made: records, a ball that clips them, their average, a cloud of releases.

import {
  averageAt, choiceOdds, clipped, distance, length, noiseStd, placeAt, radiusGrid, squaredParts, withMoved,
} from "./clipping.js"
import { bestOf, drawBars, drawCurve, drawPrices, short } from "./errors.js"
import { drawFar } from "./far.js"
import { arrow, cross, dot, label, line, plane, ring } from "./canvas.js"
import { drawTexts } from "./texts.js"

const TICKS = 200
const NEAREST = 0.1 // of the record that a hand moves, from the centre
const FARTHEST = 1000
const ROOM = 1.15 // around what the plane of records has to show
const ZOOM = 1.04 // of it, from frame to frame
const GROW_MS = 350

const toValue = (tick, [low, high]) => low * (high / low) ** (tick / TICKS)
const toTick = (value, [low, high]) => Math.round((TICKS * Math.log(value / low)) / Math.log(high / low))
const PLACES = [NEAREST, FARTHEST]

// What the controls say, and the numbers that follow from it.
const situation = ({ data, sample: place, radius, moved, choosing, view, zoom }) => {
  const sample = data.samples[place]
  const { n, mean, plain } = sample
  const rho = choosing ? sample.choiceRho : sample.rho
  const points = sample.records
  const release = averageAt(sample, radius)
  return {
    sample, n, rho, points, release, radius, view, zoom, mean, plain,
    place: moved,
    unclipped: radius === Infinity,
    std: noiseStd(radius, n, rho),
    parts: squaredParts(sample.law, sample.reach, radius, n, rho),
    moved: moved && withMoved(release, points[0], moved, radius, n),
  }
}

// How a private choice of the radius falls out: its odds, and how far the error is from the best.
const oddsOf = ({ sample: { ladder, longer, target, choiceEpsilon } }) => choiceEpsilon
  ? choiceOdds(longer, ladder, target, choiceEpsilon)
  : ladder.map((_, i) => (i ? 0 : 1))

const choosing = (now) => {
  const odds = oddsOf(now)
  const { law, reach, ladder } = now.sample
  const squares = ladder.map((radius) => squaredParts(law, reach, radius, now.n, now.rho).total)
  const order = odds.map((_, i) => i).sort((a, b) => squares[a] - squares[b])
  return { odds, half: squares[order[placeAt(order.map((i) => odds[i]), 0.5)]] }
}

const errorCurve = ({ n, sample: { law, reach }, rho }) => radiusGrid(...reach, law.bias.length)
  .map((radius) => ({ radius, ...squaredParts(law, reach, radius, n, rho) }))

// The plane follows what a hand moves: it shows all of the circle and of the record.
const viewOf = (view, { radius, moved }) => Math.max(
  view, radius === Infinity ? 0 : ROOM * radius, moved ? ROOM * length(moved) : 0)

// A record that lies outside the plane is drawn at its edge, in its direction.
const inView = (point, { width, height, scale }) => {
  const [across, up] = [width, height].map((side) => 0.49 * side / scale)
  const far = Math.max(Math.abs(point[0]) / across, Math.abs(point[1]) / up)
  return far > 1 ? [point[0] / far, point[1] / far] : point
}

const drawRecords = (picture, now, drawn) => {
  const { colours } = picture
  const place = plane(picture.canvas.records, { centre: [0, 0], size: now.view })
  picture.place = place
  for (const point of drawn) {
    if (length(point) <= now.radius) continue
    line(place, inView(point, place), clipped(point, now.radius), colours.bias, 1.5)
  }
  if (!now.unclipped) ring(place, [0, 0], now.radius, colours.ink)
  for (const point of drawn) {
    const outside = length(point) > now.radius
    if (outside) dot(place, inView(point, place), 2.5, colours.bias)
    dot(place, clipped(inView(point, place), now.radius), 2.5, outside ? colours.bias : colours.sampling)
  }
  const farthest = drawn.reduce((far, point) => (length(point) > length(far) ? point : far), [0, 0])
  if (now.unclipped && !now.place && length(farthest) > now.view) {
    const beyond = `${short(length(farthest))} from the centre`
    label(place, inView(farthest, place), beyond, picture.type, farthest[1] > 0)
  }
  if (now.place) {
    const at = inView(now.place, place)
    dot(place, at, 7, colours.other)
    line(place, at, clipped(now.place, now.radius), colours.other, 1.5)
    label(place, at, "your record", picture.type)
  }
  cross(place, now.mean, colours.ink)
  label(place, now.mean, "true mean", picture.type, true)
}

// The size of the magnified plane follows the data, not the hand: a cloud that grows must be seen to.
const meansView = (now) => {
  const { best } = now.sample
  const clip = distance(averageAt(now.sample, best), now.mean)
  const cloud = Math.hypot(clip, Math.SQRT2 * noiseStd(best, now.n, now.rho))
  const far = Math.max(cloud, distance(now.plain, now.mean))
  const moved = now.unclipped && now.moved ? ROOM * distance(now.moved, now.mean) : 0
  return { centre: now.mean, size: Math.max((3.2 / now.zoom) * far, moved) }
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
  arrow(place, now.plain, now.release, colours.bias)
  if (now.moved && !cloud) arrow(place, now.release, now.moved, colours.other)
  dot(place, now.plain, 4, colours.sampling)
  if (!now.unclipped) dot(place, now.release, 5, colours.bias)
  if (now.moved) dot(place, now.moved, 5, colours.other)
  const end = cloud ? released(now.release, data.noise[state.run % data.noise.length])
    : now.moved || now.release
  if (cloud) {
    line(place, now.release, end, colours.noise)
    dot(place, end, 7, colours.noise)
  }
  cross(place, now.mean, colours.ink)
  label(place, now.mean, "true mean", picture.type, end[1] > now.mean[1])
  const name = cloud ? "released" : now.moved ? "average with your record" : "average"
  label(place, end, name, picture.type, end[1] <= now.mean[1])
  picture.find(".zoom").textContent = now.view >= half.size
    ? `Magnified ${short(now.view / half.size)} times.`
    : `Shrunk ${short(half.size / now.view)} times.`
}

// A state may leave parts of the picture out; its own page shows them all.
const shows = ({ state }, part) => !state.parts || state.parts.includes(part)

const showParts = (picture, main) => {
  for (const element of picture.all("[data-part]")) {
    element.classList.toggle("away", !shows(picture, element.dataset.part))
    element.classList.toggle("main", element.dataset.part === main)
  }
}

// `seen` is what is drawn while the state changes: other points, another circle.
const draw = (picture, { points, ...seen } = {}) => {
  const { state } = picture
  const now = situation({ ...state, ...seen })
  const key = [state.sample, state.choosing].join()
  if (picture.curveOf !== key) [picture.curve, picture.curveOf] = [errorCurve(now), key]
  now.best = bestOf(picture.curve).total
  if (state.choosing) Object.assign(now, choosing(now))
  picture.now = now
  drawRecords(picture, now, points || now.points)
  drawMeans(picture, now)
  if (!now.unclipped) {
    drawBars(picture, now, picture.curve)
    drawCurve(picture, now, picture.curve)
  }
  if (state.data.prices) {
    drawPrices(picture, state.data.prices, state.floor)
    drawFar(picture, now, points || now.points)
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

const along = (a, b, share) => a.map((x, i) => x + share * (b[i] - x))
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
      points: to.map((point, i) => along(points[i] || [0, 0], point, share)),
      radius: open ? Infinity : scaled(wide(before), wide(state), share),
      view: scaled(before.view, state.view, share),
      zoom: scaled(before.zoom, state.zoom, share),
      moved: state.moved && along(before.moved || to[0], state.moved, share),
    })
    requestAnimationFrame(step)
  }
  step(start)
}

const setRadius = (picture, radius, choosing = false) => {
  const { state } = picture
  const { reach } = state.data.samples[state.sample]
  state.choosing = choosing
  state.radius = Math.min(reach[1], Math.max(reach[0], radius))
  follow(picture)
}

const setMoved = (picture, place) => {
  const size = length(place) || 1
  const held = Math.min(FARTHEST, Math.max(NEAREST, size))
  picture.state.moved = place.map((x) => (x / size) * held)
  follow(picture)
}

// The sliders stand where the hand has left the circle and the record, and the plane shows both.
const follow = (picture) => {
  const { state, find } = picture
  const { reach } = state.data.samples[state.sample]
  find("input[name=radius]").value = toTick(Math.min(reach[1], state.radius), reach)
  if (state.moved) find("input[name=distance]").value = toTick(length(state.moved), PLACES)
  const away = !state.moved || !shows(picture, "distance")
  find("label[data-part=distance]").classList.toggle("away", away)
  picture.canvas.records.tabIndex = state.moved ? 0 : -1
  if (!picture.held) state.view = viewOf(state.base, state)
  redraw(picture)
}

// Go to a state that a page describes; what the hand has done before is forgotten.
//   sample: which of the samples; radius: null clips nothing;
//   moved: where the changed record lies, "worst", or null;
//   view: half the width of the plane of records; zoom: of that of averages;
//   parts: what is shown; main: what a small screen shows of it; floor: whether prices have one.
export const setState = (picture, { sample, radius, moved, view, zoom, parts, main, floor }) => {
  const { state } = picture
  const before = { ...state }
  Object.assign(state, { sample, zoom, parts, floor, base: view, choosing: false })
  state.radius = radius ?? Infinity
  state.moved = moved === "worst" ? worstPlace(situation({ ...state, moved: null })) : moved
  showParts(picture, main)
  follow(picture)
  travel(picture, before)
}

// Another private choice, of those whose luck Python drew.
const choosePrivately = (picture) => {
  const { state, now } = picture
  const { uniforms } = state.data
  state.choices += 1
  const place = placeAt(oddsOf(now), uniforms[state.choices % uniforms.length])
  setRadius(picture, now.sample.ladder[place], true)
}

// The place that moves the average most: on the far side of the ball.
const worstPlace = ({ points, radius }) => {
  const size = length(points[0]) || 1
  return points[0].map((x) => (-x / size) * Math.max(Math.min(radius, FARTHEST), 1) * 1.1)
}

const pointerAt = (picture, event) => {
  const { records } = picture.canvas
  const box = records.getBoundingClientRect()
  const [left, top] = [box.left + records.clientLeft, box.top + records.clientTop]
  return picture.place.toWorld([event.clientX - left, event.clientY - top])
}

// A hand that stays at the edge of the plane goes on: the plane grows until it has room.
const listenToPlane = (picture) => {
  const { state, canvas: { records } } = picture
  let pointer = null
  const move = () => {
    if (!picture.held || !pointer) return
    const at = pointerAt(picture, pointer)
    if (picture.held === "radius") setRadius(picture, length(at))
    else setMoved(picture, at)
    const wanted = viewOf(state.base, state)
    const next = Math.max(state.view / ZOOM, Math.min(state.view * ZOOM, wanted))
    if (next === state.view) return
    state.view = next
    redraw(picture)
    requestAnimationFrame(move)
  }
  records.onpointerdown = (event) => {
    const at = pointerAt(picture, event)
    const near = (point) => Math.hypot(at[0] - point[0], at[1] - point[1]) * picture.place.scale < 24
    picture.held = state.moved && near(inView(state.moved, picture.place)) ? "record" : "radius"
    records.setPointerCapture(event.pointerId)
    records.onpointermove(event)
  }
  records.onpointermove = (event) => {
    if (!picture.held) return
    pointer = event
    requestAnimationFrame(move)
  }
  records.onpointerup = records.onpointercancel = () => (picture.held = null)
  records.onkeydown = (event) => {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }
    const step = steps[event.key]
    if (!step || !state.moved) return
    event.preventDefault()
    setMoved(picture, state.moved.map((x, i) => x + step[i] * state.view / 40))
  }
}

const listenToControls = (picture) => {
  const { state, data, find } = picture
  const reach = () => data.samples[state.sample].reach
  find("input[name=radius]").oninput = (event) =>
    setRadius(picture, toValue(Number(event.target.value), reach()))
  find("input[name=distance]").oninput = (event) => {
    const size = length(state.moved)
    const held = toValue(Number(event.target.value), PLACES)
    setMoved(picture, state.moved.map((x) => (x / size) * held))
  }
  const press = (name, action) => (find(`button[name=${name}]`).onclick = action)
  press("again", () => {
    state.run += 1
    redraw(picture)
  })
  press("blind", () => setRadius(picture, picture.now.sample.blind))
  press("private", () => choosePrivately(picture))
  press("best", () => setRadius(picture, bestOf(picture.curve).radius))
  press("worst", () => setMoved(picture, worstPlace(picture.now)))
  press("change", () => {
    if (!state.moved) return setMoved(picture, worstPlace(picture.now))
    state.moved = null
    follow(picture)
  })
}

// How words on a canvas look: those of the page.
const typeOf = (element, { ink }) => {
  const style = getComputedStyle(element)
  const root = parseFloat(getComputedStyle(document.documentElement).fontSize)
  return { ink, page: style.getPropertyValue("--page"), font: style.fontFamily, size: (13 * root) / 16 }
}

// Draw the picture into `root`, which holds its markup. Called again with other data, it goes there.
export const show = (root, data) => {
  const find = (query) => root.querySelector(query)
  const look = { colours: data.colours, type: typeOf(find(".picture"), data.colours) }
  if (root.picture?.data.id === data.id) {
    redraw(Object.assign(root.picture, look))
    return root.picture
  }
  const before = root.picture?.state
  const base = 1.5 * data.samples[0].start
  const state = {
    data, base, sample: 0, run: 0, moved: null, choices: -1, view: base, zoom: 1,
    radius: data.samples[0].start,
  }
  const picture = {
    data, state, find, ...look,
    all: (query) => root.querySelectorAll(query),
    canvas: { records: find(".records"), means: find(".means") },
  }
  root.picture = picture
  if (!data.prices) for (const name of [".prices", ".far"]) find(name)?.closest("figure").remove()
  listenToPlane(picture)
  listenToControls(picture)
  follow(picture)
  travel(picture, before || state, before ? undefined : [])
  root.watch?.disconnect()
  root.watch = new ResizeObserver(() => redraw(root.picture))
  root.watch.observe(picture.canvas.records)
  return picture
}

export default function ({ data, parentElement }) {
  show(parentElement, data)
}
