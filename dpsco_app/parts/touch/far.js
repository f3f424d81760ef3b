// How far every record lies from the centre, on a logarithmic axis: a dot a record, stacked, with the
// clip radius and the record that a hand moves.

import { length } from "./clipping.js"
import { frameOf, short, svgText } from "./errors.js"
import { toShare } from "./lengths.js"

const ENDS = [0.1, 1000]
const [SMALLEST, LARGEST] = [3, 11] // pixels across a dot

// The column and the row of each dot: those in one column lie on one another.
const stacked = (places, dot) => {
  const heights = new Map()
  return places.map((place) => {
    const column = Math.round(place / dot)
    const row = heights.get(column) ?? 0
    heights.set(column, row + 1)
    return [column, row]
  })
}

// The largest dots whose highest column has room.
const dotOf = (places, height) => {
  const highest = (dot) => dot * (1 + Math.max(...stacked(places, dot).map(([, row]) => row)))
  let dot = LARGEST
  while (dot > SMALLEST && highest(dot) > height) dot -= 1
  return dot
}

export const drawFar = (picture, now, points) => {
  const svg = picture.find(".far")
  const { ink, bias, sampling, other } = picture.colours
  const { left, right: edge, top, bottom, unit } = frameOf(svg)
  const right = edge - 16 * unit // the last number is wide
  const x = (value) => left + (right - left) * toShare(value, ENDS)
  const lengths = points.map(length).sort((a, b) => a - b)
  const places = lengths.map((one) => x(one) - left)
  const dot = dotOf(places, bottom - top)
  const dots = stacked(places, dot).map(([column, row], i) =>
    `<circle cx="${left + dot * column}" cy="${bottom - dot * (row + 0.5)}" r="${dot / 2 - 0.4}" ` +
    `fill="${lengths[i] > now.radius ? bias : sampling}"/>`).join("")
  const ticks = [0.1, 1, 10, 100, 1000].map((tick) =>
    svgText(x(tick), bottom + 16 * unit, tick.toLocaleString("en"), "middle")).join("")
  // A name stands beside its mark, on the side where there is room.
  const named = (value, y, text) => {
    const isFar = x(value) > (left + right) / 2
    return svgText(x(value) + (isFar ? -8 : 8), y, text, isFar ? "end" : "start")
  }
  const circle = now.unclipped ? ""
    : `<line class="radius" x1="${x(now.radius)}" x2="${x(now.radius)}" y1="${top - 8}" y2="${bottom}" ` +
      `stroke="${ink}" stroke-width="2"/>` + named(now.radius, top, "clip radius R")
  const mine = now.place ? length(now.place) : 0
  const moved = now.place
    ? `<circle class="moved" cx="${x(mine)}" cy="${bottom - 5}" r="6" fill="${other}"/>` +
      named(mine, bottom - 14 * unit, "your record") : ""
  svg.innerHTML =
    `<line x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}" stroke="${ink}" stroke-opacity="0.4"/>` +
    ticks + svgText((left + right) / 2, bottom + 34 * unit, "distance from the centre (log)", "middle") +
    dots + circle + moved
  const beyond = lengths.filter((one) => one > now.radius).length
  svg.setAttribute("aria-label",
    `Half of the records lie within ${short(lengths[Math.floor(lengths.length / 2)])} of the centre; the ` +
    `farthest lies ${short(lengths[lengths.length - 1])} away.` +
    (now.unclipped ? "" : ` ${beyond} lie beyond the clip radius.`))
}
