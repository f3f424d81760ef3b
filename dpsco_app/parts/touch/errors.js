// The error of a private mean: the squares of its parts, which add up, and the parts and the whole
// over the clip radius.

import { RADII } from "./clipping.js"

export const short = (value) => Number(value.toPrecision(2)).toString()

const NAMES = { sampling: "sampling", bias: "clipping bias", noise: "noise" }

// The shares of the parts in whole percents, which add up to 100: what rounding down leaves goes to
// those that lose most by it.
export const percents = (parts) => {
  const keys = Object.keys(NAMES)
  const exact = keys.map((key) => (100 * parts[key]) / parts.total)
  const lost = exact.map((share) => share - Math.floor(share))
  const left = Math.round(lost.reduce((a, b) => a + b))
  const first = keys.map((_, i) => i).sort((a, b) => lost[b] - lost[a]).slice(0, left)
  return Object.fromEntries(keys.map((key, i) =>
    [key, `${Math.floor(exact[i]) + (first.includes(i) ? 1 : 0)} %`]))
}

export const bestOf = (curve) => curve.reduce((best, one) => (one.total < best.total ? one : best))

export const svgText = (x, y, text, anchor = "start") =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>`

const coloursOf = ({ record, lost, method }) => ({ sampling: record, bias: lost, noise: method })

// Each square begins where the one above it ends: together they are as long as the last.
export const drawBars = (picture, { parts }) => {
  const colours = coloursOf(picture.colours)
  const [left, wide] = [92, 170]
  const shares = percents(parts)
  let from = left
  const rows = Object.keys(NAMES).map((key, i) => {
    const width = (wide * parts[key]) / parts.total
    const bar = (y, name) => `<rect class="${name}" x="${from}" y="${y}" width="${width}" height="20" ` +
      `fill="${colours[key]}"/>`
    const drawn = bar(12 + 40 * i, "part") + bar(132, "whole")
    from += width
    return drawn + svgText(left - 8, 27 + 40 * i, NAMES[key], "end") +
      svgText(left + wide + 8, 27 + 40 * i, `${short(Math.sqrt(parts[key]))}², ${shares[key]}`)
  })
  const all = `${short(Math.sqrt(parts.total))}² = ${short(parts.total)}`
  picture.find(".bars").innerHTML = rows.join("") +
    svgText(left - 8, 147, "in all", "end") + svgText(left + wide + 8, 147, all)
  const words = Object.entries(NAMES).map(([key, name]) =>
    `${name} ${short(Math.sqrt(parts[key]))} squared, ${shares[key]}`)
  picture.find(".bars").setAttribute("aria-label",
    `Parts of the mean squared error: ${words.join("; ")}; in all ${all}.`)
}

const PLOT = { left: 44, right: 410, top: 22, bottom: 140 }

export const drawCurve = (picture, now, curve) => {
  const { colours } = picture
  const best = bestOf(curve)
  const error = (one, key = "total") => Math.sqrt(one[key])
  const all = (key) => curve.map((one) => error(one, key))
  // All of the noise, of the sampling and of the error has its place; a bias may fall out of it.
  const low = Math.min(...all("noise"), ...all("sampling"), (now.floor || Infinity)) / 1.3
  const high = Math.max(...all("total")) * 1.15
  const { left, right, top, bottom } = PLOT
  const x = (radius) =>
    left + (right - left) * (Math.log(radius / RADII[0]) / Math.log(RADII[1] / RADII[0]))
  const y = (value) =>
    bottom - (bottom - top) * (Math.log(Math.max(value, low / 100) / low) / Math.log(high / low))
  const path = (key, colour, width) =>
    `<path class="${key}" fill="none" stroke="${colour}" stroke-width="${width}" d="M` +
    `${curve.map((one) => `${x(one.radius).toFixed(1)},${y(error(one, key)).toFixed(1)}`).join("L")}"/>`
  const ticks = [-4, -3, -2, -1, 0, 1, 2, 3].map((power) => 10 ** power).filter((t) => t > low && t < high)
  const scale = ticks.map((t) => `<line x1="${left}" x2="${right}" y1="${y(t)}" y2="${y(t)}" ` +
    `stroke="${colours.ink}" stroke-opacity="0.2"/>` + svgText(left - 4, y(t) + 4, short(t), "end")).join("")
  // The name of a line, where no other line is near.
  const name = (key, place, colour, [dx, dy], anchor) =>
    `<text x="${x(curve[place].radius) + dx}" y="${y(error(curve[place], key)) + dy}" ` +
    `text-anchor="${anchor}" style="fill: ${colour}">${NAMES[key]}</text>`
  const mark = (radius, text, anchor) =>
    `<line x1="${x(radius)}" x2="${x(radius)}" y1="22" y2="140" stroke="${colours.ink}" ` +
    `stroke-dasharray="2 4"/>` + svgText(x(radius), 15, text, anchor)
  const [first, second] = best.radius < now.blind ? ["end", "start"] : ["start", "end"]
  const axis = [0.3, 1, 3, 10, 30].map((r) => svgText(x(r), 160, r, "middle")).join("")
  const tall = now.choice.odds && 60 / Math.max(...now.choice.odds)
  const bars = now.choice.odds ? now.choice.odds.map((share, i) =>
    `<rect class="odds" x="${x(now.choice.radii[i]) - 3}" y="${140 - share * tall}" width="6" ` +
    `height="${share * tall}" fill="${colours.private}" fill-opacity="0.45"/>`).join("") : ""
  const floor = now.floor ? `<line class="floor" x1="${left}" x2="${right}" y1="${y(now.floor)}" ` +
    `y2="${y(now.floor)}" stroke="${colours.floor}" stroke-width="2"/>` +
    svgText(right - 4, y(now.floor) + 15, `worst case: ${short(now.floor)}`, "end")
      .replace("<text", `<text style="fill: ${colours.floor}"`) : ""
  const { sampling, bias, noise } = coloursOf(colours)
  const box = `x="${left}" y="${top}" width="${right - left}" height="${bottom - top}" ` +
    `viewBox="${left} ${top} ${right - left} ${bottom - top}"`
  picture.find(".curve").innerHTML =
    bars + scale + floor +
    `<line x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}" stroke="${colours.ink}"/>` + axis +
    `<svg class="lines" ${box}>` + path("sampling", sampling, 1.5) + path("bias", bias, 1.5) +
    path("noise", noise, 1.5) + path("total", colours.ink, 2.5) + "</svg>" +
    name("bias", 0, bias, [0, 26], "start") + name("noise", 62, noise, [8, 12], "start") +
    name("sampling", 80, sampling, [-4, -5], "end") +
    mark(best.radius, "best", first) + mark(now.blind, "without looking", second) +
    `<circle cx="${x(now.radius)}" cy="${y(error(now.parts))}" r="6" fill="${colours.method}" ` +
    `stroke="${colours.ink}"/>`
  picture.find(".curve").setAttribute("aria-label",
    `The error is least, ${short(error(best))}, at the clip radius ${short(best.radius)}; ` +
    `at ${short(now.radius)} it is ${short(error(now.parts))}.` +
    (now.floor ? ` In the worst case it is at least ${short(now.floor)}.` : ""))
}
