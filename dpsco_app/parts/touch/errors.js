// The error of a private mean: the squares of its parts, which add up, stacked at one radius and over
// all radii on one scale; and what privacy multiplies it by.

const RAISED = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"

export const short = (value) => {
  if (value === Infinity) return "∞"
  const [digits, power] = value.toExponential(1).split("e").map(Number)
  if (value === 0 || (power > -4 && power < 6)) {
    return Number(value.toPrecision(2)).toLocaleString("en", { maximumFractionDigits: 6 })
  }
  const raised = String(power).replace(/./g, (sign) => RAISED["-0123456789".indexOf(sign)])
  return `${digits}·10${raised}`
}

// A square with its root, which has as many digits as the square needs to follow from it.
export const squared = (value) => {
  const roots = [2, 3, 4, 5, 6].map((digits) => Number(Math.sqrt(value).toPrecision(digits)))
  const root = roots.find((one) => short(one * one) === short(value)) ?? roots[4]
  return `${root}² = ${short(value)}`
}

const NAMES = { sampling: "sampling", bias: "clipping bias", noise: "noise" }
const KEYS = Object.keys(NAMES) // from the bottom up
const HIGHEST = 3 // times the least error: what is higher leaves the figure
const MARGIN = 56
const BOLD = 'font-weight="700"'

// The shares of the parts in whole percents, which add up to 100: what rounding down leaves goes to
// those that lose most by it.
export const percents = (parts) => {
  const exact = KEYS.map((key) => (100 * parts[key]) / parts.total)
  const lost = exact.map((share) => share - Math.floor(share))
  const left = Math.round(lost.reduce((a, b) => a + b))
  const first = KEYS.map((_, i) => i).sort((a, b) => lost[b] - lost[a]).slice(0, left)
  return Object.fromEntries(KEYS.map((key, i) =>
    [key, `${Math.floor(exact[i]) + (first.includes(i) ? 1 : 0)} %`]))
}

export const bestOf = (curve) => curve.reduce((best, one) => (one.total < best.total ? one : best))

export const svgText = (x, y, text, anchor = "start", more = "") =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" ${more}>${text}</text>`

// A place to draw in, in pixels of the screen; `unit` grows with the type.
export const frameOf = (svg) => {
  const unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16
  const [width, height] = [svg.clientWidth || 420, svg.clientHeight || 208]
  return {
    width, unit, left: MARGIN * unit, right: width - 12, top: 24 * unit, bottom: height - 40 * unit,
  }
}

// Round numbers from 0 to the top.
const roundTicks = (top) => {
  const power = 10 ** Math.floor(Math.log10(top))
  const step = [0.2, 0.5, 1, 2].map((one) => one * power).find((one) => top / one <= 6)
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, i) => i * step)
}

// The vertical axis of squares: the same for all radii, so that nothing moves but what changes.
const squaresAxis = ({ left, right, top, bottom, unit }, curve, ink) => {
  const highest = HIGHEST * bestOf(curve).total
  const y = (value) => bottom - (bottom - top) * Math.min(1, value / highest)
  const ticks = roundTicks(highest).map((tick) =>
    `<line x1="${left}" x2="${right}" y1="${y(tick)}" y2="${y(tick)}" stroke="${ink}" ` +
    `stroke-opacity="0.15"/>` + svgText(left - 5, y(tick) + 4 * unit, short(tick), "end")).join("")
  return { highest, y, ticks }
}

// The parts at the radius that is set, on one another, and their numbers beside them.
export const drawBars = (picture, { parts }, curve) => {
  const { colours } = picture
  const svg = picture.find(".bars")
  const sheet = frameOf(svg)
  const { left, top, bottom, unit } = sheet
  const wide = 40 * unit
  const axis = squaresAxis({ ...sheet, right: left + wide }, curve, colours.ink)
  const shares = percents(parts)
  const pitch = Math.min(43 * unit, (svg.clientHeight - 46 * unit) / KEYS.length)
  const row = (i) => top + i * pitch
  let below = 0
  const stack = KEYS.map((key, i) => {
    const [from, to] = [axis.y(below), axis.y((below += parts[key]))]
    const at = left + wide + 14 * unit
    const name = row(KEYS.length - i)
    return `<rect class="part ${key}" x="${left}" y="${to}" width="${wide}" height="${from - to}" ` +
      `data-square="${parts[key]}" fill="${colours[key]}"/>` +
      `<rect x="${at}" y="${name - 9 * unit}" width="${10 * unit}" height="${10 * unit}" ` +
      `fill="${colours[key]}"/>` + svgText(at + 15 * unit, name, NAMES[key]) +
      svgText(at + 15 * unit, name + 16 * unit,
        `${squared(parts[key])}, ${shares[key]}`)
  }).join("")
  const all = squared(parts.total)
  const over = parts.total > axis.highest // the stack goes on above
  svg.innerHTML = axis.ticks + stack +
    (over ? svgText(left + wide / 2, top - 6 * unit, "↑", "middle", BOLD) : "") +
    svgText(left + wide + 29 * unit, row(0), "in all", "start", BOLD) +
    svgText(left + wide + 29 * unit, row(0) + 16 * unit, all, "start", BOLD)
  const words = KEYS.map((key) =>
    `${NAMES[key]} ${short(Math.sqrt(parts[key]))} squared, ${shares[key]}`)
  svg.setAttribute("aria-label",
    `Parts of the mean squared error: ${words.join("; ")}; in all ${all}.`)
}

const areas = (curve, x, y, colours) => {
  let below = curve.map(() => 0)
  return KEYS.map((key) => {
    const above = curve.map((one, i) => below[i] + one[key])
    const edge = (heights) => curve.map((one, i) => `${x(one.radius).toFixed(1)},${y(heights[i])}`)
    const path = `M${[...edge(above), ...edge(below).reverse()].join("L")}Z`
    below = above
    return `<path class="${key}" d="${path}" fill="${colours[key]}" fill-opacity="0.75"/>`
  }).join("")
}

// The stack over all radii, and where the radius of the hand stands in it.
export const drawCurve = (picture, now, curve) => {
  const { colours } = picture
  const svg = picture.find(".curve")
  const sheet = frameOf(svg)
  const { left, right, top, bottom, unit } = sheet
  const best = bestOf(curve)
  const axis = squaresAxis(sheet, curve, colours.ink)
  const [first, last] = now.sample.reach
  const x = (radius) => left + (right - left) * (Math.log(radius / first) / Math.log(last / first))
  const y = (value) =>
    (bottom - (bottom - top) * Math.min(1.2, value / axis.highest)).toFixed(1) // cut at the frame
  const box = `x="${left}" y="${top}" width="${right - left}" height="${bottom - top}" ` +
    `viewBox="${left} ${top} ${right - left} ${bottom - top}"`
  const total = curve.map((one) => `${x(one.radius).toFixed(1)},${y(one.total)}`).join("L")
  const at = Math.min(right, Math.max(left, x(now.radius)))
  const ticks = [0.3, 1, 3, 10, 30, 100, 300, 1000].filter((r) => r >= first && r <= last)
    .map((r) => svgText(x(r), bottom + 16 * unit, r, "middle")).join("")
  // A name stands over its own line; where the two would meet, one is on a row below.
  const half = (name) => 3.4 * unit * name.length
  const over = ([radius, name]) => Math.min(right - half(name), Math.max(left + half(name), x(radius)))
  const names = [[best.radius, "best"], [now.sample.blind, "without looking"]]
  const [mine, other] = names.map(over)
  const meet = Math.abs(mine - other) < half("best, without looking")
  const halo = `stroke="${colours.page}" stroke-width="4" paint-order="stroke"`
  const marks = names.map(([radius, name], i) => {
    const [up, more] = meet && i === 0 ? [14, halo] : [-7, ""]
    return `<line x1="${x(radius)}" x2="${x(radius)}" y1="${top}" y2="${bottom}" stroke="${colours.ink}" ` +
      `stroke-dasharray="2 4"/>` + svgText(over([radius, name]), top + up * unit, name, "middle", more)
  }).join("")
  const tall = now.odds && (0.4 * (bottom - top)) / Math.max(...now.odds)
  const odds = now.odds ? now.odds.map((share, i) =>
    `<rect class="odds" x="${x(now.sample.ladder[i]) - 3}" y="${bottom - share * tall}" width="6" ` +
    `height="${share * tall}" fill="${colours.page}" stroke="${colours.ink}"/>`).join("") : ""
  svg.innerHTML = axis.ticks + ticks +
    svgText((left + right) / 2, bottom + 34 * unit, "clip radius R (log)", "middle") +
    `<svg class="lines" ${box}>` + areas(curve, x, y, colours) +
    `<path class="total" d="M${total}" fill="none" stroke="${colours.ink}" stroke-width="2"/></svg>` +
    odds + marks +
    `<line x1="${at}" x2="${at}" y1="${axis.y(now.parts.total)}" y2="${bottom}" stroke="${colours.ink}"/>` +
    `<circle cx="${at}" cy="${axis.y(now.parts.total)}" r="6" fill="${colours.page}" ` +
    `stroke="${colours.ink}" stroke-width="2"/>`
  const error = (one) => short(Math.sqrt(one.total))
  svg.setAttribute("aria-label",
    `The error is least, ${error(best)}, at the clip radius ${short(best.radius)}; ` +
    `at ${short(now.radius)} it is ${error(now.parts)}.`)
}

// What privacy multiplies the worst-case error by, for each tail, over the number of records.
export const drawPrices = (picture, { sizes, lines }, floor) => {
  const svg = picture.find(".prices")
  const { ink, page, price, floor: red } = picture.colours
  const { left, right, top, bottom, unit } = frameOf(svg)
  const place = (value, [low, high]) => Math.log(value / low) / Math.log(high / low)
  const all = lines.flatMap(({ prices }) => prices)
  const ends = [0.8, 1.3 * Math.max(...all)]
  const x = (n) => left + (right - left) * place(n, [sizes[0], sizes[sizes.length - 1]])
  const y = (value) => bottom - (bottom - top) * place(value, ends)
  const path = (values) => `M${values.map((v, i) => `${x(sizes[i])},${y(v)}`).join("L")}`
  const ticks = [1, 2, 5, 10, 20].filter((tick) => tick < ends[1]).map((tick) =>
    `<line x1="${left}" x2="${right}" y1="${y(tick)}" y2="${y(tick)}" stroke="${ink}" ` +
    `stroke-opacity="${tick === 1 ? 0.6 : 0.15}"/>` +
    svgText(left - 5, y(tick) + 4 * unit, tick, "end")).join("")
  const powers = [1e3, 1e4, 1e5].map((n) =>
    svgText(x(n), bottom + 16 * unit, n.toLocaleString("en"), "middle")).join("")
  const drawn = lines.map(({ p, prices }, i) =>
    `<path class="price" d="${path(prices)}" fill="none" stroke="${price}" stroke-width="2.2" ` +
    `stroke-dasharray="${i ? "7 4" : ""}"/>` + prices.map((v, k) =>
      `<circle cx="${x(sizes[k])}" cy="${y(v)}" r="3.5" fill="${i ? page : price}" stroke="${price}"/>`,
    ).join("") +
    svgText(x(sizes[1]) + 8, y(prices[1]) - 8 * unit, `p = ${p}`, "start", BOLD)).join("")
  const { p: heavy, floors } = lines[0]
  const worst = floor ? `<path class="floor" d="${path(floors)}" fill="none" stroke="${red}" ` +
    'stroke-width="2"/>' + svgText(right - 6, y(floors[floors.length - 1]) - 8 * unit,
    `no private method below ${short(Math.min(...floors))} at p = ${heavy}`, "end",
    `style="fill: ${red}"`) : ""
  svg.innerHTML = ticks + powers + drawn + worst +
    svgText((left + right) / 2, bottom + 34 * unit, "records n (log)", "middle")
  const told = lines.map(({ p, prices }) => `${short(prices[0])} with ${sizes[0]} records at p = ${p}, ` +
    `${short(prices[sizes.length - 1])} with ${sizes[sizes.length - 1].toLocaleString("en")}`)
  svg.setAttribute("aria-label", `What privacy multiplies the worst-case error by: ${told.join("; ")}.`)
}
