// The error of a private mean: its parts as bars, and the whole as a curve over the clip radius.

export const RADII = [0.25, 30] // ends of the slider and of the curve

export const short = (value) => Number(value.toPrecision(2)).toString()

export const bestOf = (curve) => curve.reduce((best, one) => (one.total < best.total ? one : best))

export const svgText = (x, y, text, anchor = "start") =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>`

export const drawBars = (picture, { parts }) => {
  const { colours } = picture
  const rows = [
    ["sampling", parts.sampling, colours.record], ["bias", parts.bias, colours.lost],
    ["noise", parts.noise, colours.method], ["in all", parts.total, colours.ink],
  ]
  const scale = 250 / Math.max(...rows.map(([, value]) => value))
  picture.find(".bars").innerHTML = rows.map(([name, value, colour], i) =>
    svgText(62, 27 + 40 * i, name, "end") +
    `<rect x="70" y="${12 + 40 * i}" width="${value * scale}" height="20" rx="3" fill="${colour}"/>` +
    svgText(78 + value * scale, 27 + 40 * i, short(value))).join("")
  const words = rows.map(([name, value]) => `${name} ${short(value)}`).join(", ")
  picture.find(".bars").setAttribute("aria-label", `Parts of the error: ${words}.`)
}

export const drawCurve = (picture, now, curve) => {
  const { colours } = picture
  const best = bestOf(curve)
  const [low, high] = [Math.min(best.total / 2.5, (now.floor || Infinity) / 1.5), best.total * 40]
  const x = (radius) => 40 + 370 * (Math.log(radius / RADII[0]) / Math.log(RADII[1] / RADII[0]))
  const y = (error) =>
    140 - 130 * (Math.log(Math.min(high, Math.max(low, error)) / low) / Math.log(high / low))
  const path = (key, colour, width) =>
    `<path fill="none" stroke="${colour}" stroke-width="${width}" d="M` +
    `${curve.map((one) => `${x(one.radius).toFixed(1)},${y(one[key]).toFixed(1)}`).join("L")}"/>`
  // The name of a line on it, where it has left the bottom.
  const name = (key, from, colour) => {
    const one = curve.slice(from).find((c) => c[key] > 1.15 * low) || curve[from]
    const [dx, dy, anchor] = key === "bias" ? [-4, 16, "end"] : [8, 18, "start"]
    return `<text x="${x(one.radius) + dx}" y="${y(one[key]) + dy}" text-anchor="${anchor}" ` +
      `style="fill: ${colour}">${key}</text>`
  }
  const mark = (radius, text, anchor) =>
    `<line x1="${x(radius)}" x2="${x(radius)}" y1="22" y2="140" stroke="${colours.ink}" ` +
    `stroke-dasharray="2 4"/>` + svgText(x(radius), 15, text, anchor)
  const [first, second] = best.radius < now.blind ? ["end", "start"] : ["start", "end"]
  const axis = [0.3, 1, 3, 10, 30].map((r) => svgText(x(r), 160, r, "middle")).join("")
  const tall = now.choice.odds && 60 / Math.max(...now.choice.odds)
  const bars = now.choice.odds ? now.choice.odds.map((share, i) =>
    `<rect class="odds" x="${x(now.choice.radii[i]) - 3}" y="${140 - share * tall}" width="6" ` +
    `height="${share * tall}" fill="${colours.private}" fill-opacity="0.45"/>`).join("") : ""
  const floor = now.floor ? `<line class="floor" x1="40" x2="410" y1="${y(now.floor)}" ` +
    `y2="${y(now.floor)}" stroke="${colours.floor}" stroke-width="2"/>` +
    `<text x="44" y="${y(now.floor) - 6}" style="fill: ${colours.floor}">worst case: ` +
    `${short(now.floor)}</text>` : ""
  picture.find(".curve").innerHTML =
    bars + floor + `<line x1="40" x2="410" y1="140" y2="140" stroke="${colours.ink}"/>` + axis +
    path("bias", colours.lost, 1.5) + path("noise", colours.faintLine, 1.5) +
    path("total", colours.ink, 2.5) +
    name("bias", 12, colours.lost) + name("noise", 64, colours.method) +
    mark(best.radius, "best", first) + mark(now.blind, "without looking", second) +
    `<circle cx="${x(now.radius)}" cy="${y(now.parts.total)}" r="6" fill="${colours.method}" ` +
    `stroke="${colours.ink}"/>`
  picture.find(".curve").setAttribute("aria-label",
    `The error is least, ${short(best.total)}, at the clip radius ${short(best.radius)}; ` +
    `at ${short(now.radius)} it is ${short(now.parts.total)}.` +
    (now.floor ? ` In the worst case it is at least ${short(now.floor)}.` : ""))
}
