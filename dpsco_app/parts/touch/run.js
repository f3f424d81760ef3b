// One private run and its twins, frame by frame: three panels that follow one hand.

import { short, svgText } from "./errors.js"
import { binCounts, fromShare, logTicks, shareClipped, shareLost, toShare } from "./lengths.js"
import { savePng, saveSvg, sheet } from "./save.js"

const FRAME_MS = 130
const BINS = 36
const PLANE = [420, 315]
const LEFT = 52 // of the two panels with axes, whose right end is
const RIGHT = 408

const percentOf = (share) => `${Number((100 * share).toPrecision(2))} %`

// -- the path in the plane ----------------------------------------------------------------------

const onScreen = ({ box: [[x0, y0], [x1, y1]] }) => {
  const scale = PLANE[0] / (x1 - x0)
  return ([x, y]) => [(x - x0) * scale, PLANE[1] - ((y - y0) * PLANE[1]) / (y1 - y0)]
    .map((value) => value.toFixed(1))
}

const lineOf = (points, at) => `M${points.map((point) => at(point).join()).join("L")}`

// The lines of equal risk, named where they are furthest to the upper right, and the set's edge.
const ground = ({ edge, colours }, { contours }, at) => {
  const lines = contours.map(({ pieces }) =>
    `<path d="${pieces.map((piece) => lineOf(piece, at)).join("")}"/>`).join("")
  const names = contours.filter((_, i) => (contours.length - i) % 2).map(({ level, pieces }) => {
    const ends = pieces.map(([end]) => at(end).map(Number))
      .filter(([x, y]) => x > 8 && x < 380 && y > 16 && y < 305)
    const [x, y] = ends.sort((a, b) => b[0] - 1.5 * b[1] - a[0] + 1.5 * a[1])[0] || [-99, -99]
    return `<text class="halo" x="${x}" y="${y}" style="fill: ${colours.quiet}">${level}</text>`
  }).join("")
  return `<g fill="none" stroke="${colours.quiet}" stroke-opacity="0.5">${lines}` +
    `<path d="${lineOf(edge, at)}Z" stroke-dasharray="2 5" stroke-opacity="0.9"/></g>${names}`
}

const mark = ([x, y], text, colours, below) =>
  `<path d="M${x - 5},${y - 5}l10,10m0,-10l-10,10" stroke="${colours.ink}" stroke-width="2.5"/>` +
  `<text class="halo" x="${x}" y="${below ? y + 20 : y - 10}" text-anchor="middle">${text}</text>`

const drawPlane = (played, now) => {
  const { data, at, find } = played
  const paths = data.runs.map(({ places, colour, dash, end }, k) => {
    const place = now.places[k]
    const [x, y] = at(places[place])
    const stroke = `fill="none" stroke="${colour}" stroke-dasharray="${dash}"`
    const [ex, ey] = at(end)
    return `<path d="${lineOf(places, at)}" ${stroke} stroke-width="1" stroke-opacity="0.5"/>` +
      `<path d="${lineOf(places.slice(0, place + 1), at)}" ${stroke} stroke-width="2.4"/>` +
      `<circle cx="${x}" cy="${y}" r="${k ? 5 : 7}" fill="${colour}" ` +
      `stroke="${data.colours.page}"/>` +
      (now.last && !k ? `<circle cx="${ex}" cy="${ey}" r="10" ${stroke} stroke-width="2"/>` +
        `<text class="halo" x="${ex}" y="${Number(ey) + 25}" text-anchor="middle" ` +
        `style="fill: ${colour}">released</text>` : "")
  }).reverse().join("")
  const [start, best] = [[0, 0], data.best].map((point) => at(point).map(Number))
  find(".plane .live").innerHTML = paths +
    mark(start, "start", data.colours, true) + mark(best, "best", data.colours)
}

// The part of the plane that is seen: all of it, or the later steps.
const look = (played) => {
  const { data, find } = played
  const view = data.views[played.near ? 1 : 0]
  played.at = onScreen(view)
  find(".plane .ground").innerHTML = ground(data, view, played.at)
  find("button[name=near]").hidden = data.views.length < 2
  find("button[name=near]").setAttribute("aria-pressed", String(played.near))
}

// -- the error ----------------------------------------------------------------------------------

const riskScale = ({ runs }) => {
  const all = runs.flatMap(({ risks, final }) => [...risks, final]).filter((risk) => risk > 0)
  const high = Math.max(...all, 1e-12) * 1.3
  const low = Math.max(Math.min(...all, high), high * 1e-5) / 1.3
  return { low, high, y: (risk) => 150 - 140 * toShare(risk, [low, high]) }
}

const alongRun = (share) => LEFT + (RIGHT - LEFT) * share

const drawRisks = (played, now) => {
  const { data, scale, find } = played
  const { ink, quiet, page } = data.colours
  const ticks = logTicks(scale.low, scale.high).map((tick) =>
    `<line x1="${LEFT}" x2="${RIGHT}" y1="${scale.y(tick)}" y2="${scale.y(tick)}" stroke="${quiet}" ` +
    `stroke-opacity="0.25"/>` + svgText(LEFT - 5, scale.y(tick) + 4, tick, "end")).join("")
  const lines = data.runs.map(({ shares, risks, colour, dash }, k) => {
    const points = shares.map((share, i) => `${alongRun(share)},${scale.y(risks[i]).toFixed(1)}`)
    const [x, y] = points[now.places[k]].split(",")
    return `<path d="M${points.join("L")}" fill="none" stroke="${colour}" stroke-dasharray="${dash}" ` +
      `stroke-width="${k ? 1.8 : 2.6}"/><circle cx="${x}" cy="${y}" r="${k ? 4 : 6}" ` +
      `fill="${colour}" stroke="${page}"/>`
  }).reverse().join("")
  const x = alongRun(now.share)
  const end = scale.y(data.runs[0].final)
  const released = `<circle cx="${RIGHT}" cy="${end}" r="8" fill="none" stroke-width="2" ` +
    `stroke="${data.runs[0].colour}"/>`
  find(".risks").innerHTML = ticks +
    `<line x1="${x}" x2="${x}" y1="8" y2="150" stroke="${ink}" stroke-dasharray="2 4"/>` +
    lines + released + svgText(LEFT, 170, "start") + svgText(RIGHT, 170, data.length, "end")
}

// -- the lengths of the gradients ---------------------------------------------------------------

const drawNorms = (played, now) => {
  const { data, find } = played
  const { ink, clipped, kept } = data.colours
  const counts = binCounts(data.norms[played.frame], data.reach, BINS)
  const wide = (RIGHT - LEFT) / BINS
  const bars = counts.map((count, i) => {
    const high = (100 * count) / played.tallest
    const beyond = fromShare((i + 0.5) / BINS, data.reach) > played.radius
    return `<rect x="${LEFT + i * wide}" y="${118 - high}" width="${wide - 1}" height="${high}" ` +
      `fill="${beyond ? clipped : kept}"/>`
  }).join("")
  const x = alongRun(toShare(played.radius, data.reach))
  const ticks = logTicks(...data.reach).map((tick) =>
    svgText(alongRun(toShare(tick, data.reach)), 138, tick, "middle")).join("")
  find(".norms").innerHTML = bars + ticks +
    `<line x1="${LEFT}" x2="${RIGHT}" y1="118" y2="118" stroke="${ink}"/>` +
    `<rect x="${x}" y="14" width="${RIGHT - x}" height="104" fill="${clipped}" ` +
    `fill-opacity="0.1"/>` +
    `<line x1="${x}" x2="${x}" y1="14" y2="118" stroke="${ink}" stroke-width="2"/>` +
    `<circle cx="${x}" cy="14" r="8" fill="${ink}"/>`
  find(".norms").setAttribute("aria-label",
    `Lengths of ${data.norms[0].length} gradients. ${now.lengths}`)
}

// -- words --------------------------------------------------------------------------------------

const drawWords = (played, now) => {
  const { data, find, frame } = played
  const risks = data.runs.map(({ name, risks: all }, k) => `${name} ${short(all[now.places[k]])}`)
  const answer = now.last ? ` The point that is released has ${short(data.runs[0].final)}.` : ""
  const errors = `Excess risk ${now.when}: ${risks.join("; ")}.${answer}`
  find(".step").textContent = now.step
  find(".radius").textContent = short(played.radius)
  find("input[name=frame]").setAttribute("aria-valuetext", now.step)
  find("input[name=radius]").setAttribute("aria-valuetext", `${short(played.radius)}. ${now.lengths}`)
  find(".summary").setAttribute("aria-live", played.playing ? "off" : "polite")
  const old = data.follows && factorOf(played) !== factorOf({ ...played, radius: data.radius })
  find(".run").classList.toggle("old", old)
  const of = old ? ` Path and error are still those of R = ${short(data.radius)}.` : ""
  find(".summary").textContent = `${errors} ${now.lengths}${of}`
  find(".risks").setAttribute("aria-label", errors)
  find(".plane").setAttribute("aria-label",
    `The paths from the start towards the best parameter, ${now.when}, over lines of equal risk.`)
  const button = find("button[name=play]")
  button.textContent = played.playing ? "Pause" : now.last ? "Play again"
    : played.still() ? "To the end" : "Play"
}

// What a frame shows: where each run stands in it, and its numbers in words.
const situationAt = ({ data, frame, radius }) => {
  const share = data.runs[0].shares[frame]
  const norms = data.norms[frame]
  const last = frame === data.steps.length - 1
  const step = data.relative ? `${Math.round(100 * share)} % of the run`
    : `Step ${data.steps[frame]} of ${data.steps[data.steps.length - 1]}`
  return {
    share, last, step,
    when: frame === 0 ? "at the start" : data.relative ? `after ${step}`
      : `after ${data.steps[frame]} step${data.steps[frame] > 1 ? "s" : ""}`,
    places: data.runs.map(({ shares }) => shares.filter((s) => s <= share + 1e-9).length - 1),
    lengths: `At radius ${short(radius)}, ${percentOf(shareClipped(norms, radius))} of the ` +
      `gradients at the private run's point are clipped, and ` +
      `${percentOf(shareLost(norms, radius))} of their total length is lost.`,
  }
}

// -- the hand -----------------------------------------------------------------------------------

const drawFrame = (played) => {
  const now = situationAt(played)
  drawPlane(played, now)
  drawRisks(played, now)
  drawNorms(played, now)
  drawWords(played, now)
}

// At most one drawing for each frame of the screen.
const redrawSoon = (played) => {
  played.waiting ||= requestAnimationFrame(() => {
    played.waiting = 0
    drawFrame(played)
  })
}

const goTo = (played, frame) => {
  played.frame = Math.min(played.data.steps.length - 1, Math.max(0, frame))
  played.find("input[name=frame]").value = played.frame
  redrawSoon(played)
}

const pause = (played) => {
  clearInterval(played.playing)
  played.playing = 0
  redrawSoon(played)
}

// Who asks for stillness sees the end at once.
const play = (played) => {
  if (played.playing) return pause(played)
  const last = played.data.steps.length - 1
  if (played.still()) return goTo(played, played.frame === last ? 0 : last)
  if (played.frame === last) goTo(played, 0)
  played.playing = setInterval(() => {
    if (!played.root.isConnected || played.frame >= last) return pause(played)
    goTo(played, played.frame + 1)
  }, FRAME_MS)
  redrawSoon(played)
}

const setRadiusTo = (played, radius) => {
  const { data, find } = played
  const [low, high] = data.radii
  played.radius = Math.min(high, Math.max(low, radius))
  find("input[name=radius]").value = Math.round(data.ticks * toShare(played.radius, data.radii))
  redrawSoon(played)
}

const factorOf = ({ radius, data }) => Number((radius / data.chosen).toPrecision(3))

const tellRadius = (played) => {
  const factor = factorOf(played)
  played.told.add(factor)
  played.tell(factor)
}

// All panels as one picture, with what is beside them on the page.
const sheetOf = ({ data, find }) => {
  const { colours, title, setting, runs } = data
  const names = runs.map(({ name, colour }, k) =>
    [`— ${name}`, 10 + 190 * k, 50, `style="fill: ${colour}"`])
  return sheet(
    [[find(".plane"), 10, 70], [find(".risks"), 440, 86], [find(".norms"), 440, 276]],
    [[title, 10, 24, 'style="font-weight: bold"'], ...names,
      [find(".step").textContent, 848, 50, 'text-anchor="end"'],
      ["Excess population risk (log)", 492, 82], ["Lengths of gradients", 492, 280],
      [setting, 10, 440]],
    [870, 455], colours)
}

const listenToRun = (played) => {
  const { find, root } = played
  const press = (name, action) => (find(`button[name=${name}]`).onclick = action)
  const step = (by) => () => {
    pause(played)
    goTo(played, played.frame + by)
  }
  press("play", () => play(played))
  press("back", step(-1))
  press("on", step(1))
  press("near", () => {
    played.near = !played.near
    look(played)
    redrawSoon(played)
  })
  press("svg", () => saveSvg(sheetOf(played), "dpsco-path"))
  press("png", () => savePng(sheetOf(played), "dpsco-path"))
  const scrub = find("input[name=frame]")
  scrub.oninput = () => {
    pause(played)
    goTo(played, Number(scrub.value))
  }
  find(".run").onkeydown = (event) => {
    if (event.key !== " " || event.target.tagName === "BUTTON") return
    event.preventDefault()
    play(played)
  }
  const slider = find("input[name=radius]")
  slider.oninput = () => {
    const { data } = played
    setRadiusTo(played, fromShare(Number(slider.value) / data.ticks, data.radii))
  }
  slider.onchange = () => tellRadius(played)
  listenToNorms(played)
}

const listenToNorms = (played) => {
  const panel = played.find(".norms")
  const move = (event) => {
    const box = panel.getBoundingClientRect()
    const x = ((event.clientX - box.left) / box.width) * 420
    const share = Math.min(1, Math.max(0, (x - LEFT) / (RIGHT - LEFT)))
    setRadiusTo(played, fromShare(share, played.data.reach))
  }
  panel.onpointerdown = (event) => {
    panel.setPointerCapture(event.pointerId)
    panel.onpointermove = move
    move(event)
  }
  panel.onpointerup = panel.onpointercancel = () => {
    if (panel.onpointermove) tellRadius(played)
    panel.onpointermove = null
  }
}

const legendOf = ({ runs, released }) => runs.map(({ name, colour, dash }) =>
  `<span><svg viewBox="0 0 28 10" aria-hidden="true"><path d="M0,5H28" stroke="${colour}" ` +
  `stroke-width="3" stroke-dasharray="${dash}"/></svg>${name}</span>`).join("") +
  `<span><svg viewBox="0 0 28 10" aria-hidden="true"><circle cx="14" cy="5" r="4" fill="none" ` +
  `stroke="${runs[0].colour}" stroke-width="2"/></svg>${released}</span>`

// Draw into `root`, which holds the markup. Called again with the same run, it stays at its frame.
export const showRun = (root, data, tell) => {
  const same = root.played?.data.id === data.id
  const find = (query) => root.querySelector(query)
  const fresh = { root, find, frame: 0, radius: data.radius, playing: 0, near: false, told: new Set() }
  const played = same ? root.played : fresh
  if (root.played && !same) clearInterval(root.played.playing)
  // What comes back from the page is the hand's own word, by which it is not moved again.
  const own = played.told.has(factorOf({ radius: data.radius, data }))
  const moved = same && played.data.radius !== data.radius && !own
  Object.assign(played, {
    data, tell, scale: riskScale(data),
    still: () => matchMedia("(prefers-reduced-motion: reduce)").matches,
    tallest: Math.max(1, ...data.norms.flatMap((norms) => binCounts(norms, data.reach, BINS))),
  })
  root.played = played
  find(".legend").innerHTML = legendOf(data)
  look(played)
  find(".note").textContent = data.note
  find("input[name=frame]").max = data.steps.length - 1
  find("input[name=radius]").max = data.ticks
  if (!same) listenToRun(played)
  setRadiusTo(played, same && !moved ? played.radius : data.radius)
  goTo(played, played.frame)
  return played
}

export default function ({ data, parentElement, setStateValue }) {
  showRun(parentElement, data, (factor) => setStateValue?.("factor", factor))
}
