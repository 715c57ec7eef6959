# SPDX-License-Identifier: GPL-2.0-or-later
# The lines of bench-overhead-summary.awk as a plot: time per call, a group of bars for each call, a
# panel for each kernel. The axis is logarithmic: 100 ns to what is needed. Set accel, vcpus and rounds.
BEGIN {
	FS = "\t"
	nr_modes = split("untraced function trampoline lossless trap function_graph graph graph-lossless syscalls events irqsoff hwlat nop", modes, " ")
	label["untraced"] = "untraced"
	label["function"] = "guest's function tracer"
	label["trampoline"] = "hvtrace, function"
	label["trap"] = "hvtrace, traps on 10 functions"
	label["lossless"] = "hvtrace, the same, --lossless"
	label["function_graph"] = "guest's function_graph"
	label["graph"] = "hvtrace, function_graph"
	label["graph-lossless"] = "hvtrace, the same, --lossless"
	label["syscalls"] = "guest's events of system calls"
	label["events"] = "hvtrace, events of system calls"
	label["irqsoff"] = "hvtrace, irqsoff"
	label["hwlat"] = "hvtrace, hwlat"
	label["nop"] = "hvtrace, attached only"
	color["untraced"] = "#9a9a9a"
	color["function"] = "#d1495b"
	color["trampoline"] = "#00798c"
	color["lossless"] = "#005f6b"
	color["trap"] = "#edae49"
	color["function_graph"] = "#8f2d3f"
	color["graph"] = "#30a4b8"
	color["graph-lossless"] = "#7cc4cf"
	color["syscalls"] = "#b56576"
	color["events"] = "#55c1a8"
	color["irqsoff"] = "#6a4c93"
	color["hwlat"] = "#8d99ae"
	color["nop"] = "#bfc8ad"
	LEFT = 110; PLOT = 640; RIGHT = 170
	BAR = 15; GAP = 14; HEAD = 114; TITLE = 30; FOOT = 46
	first = 2 # 10^2 ns
	last = 4
}

{
	if (!($1 in panel_of)) {
		panel_of[$1] = ++nr_panels
		panels[nr_panels] = $1
	}
	if (!($2 in seen)) {
		seen[$2]
		calls[++nr_calls] = $2
	}
	ns[$1, $2, $3] = $4
	times[$1, $2, $3] = $5
	while ($4 > 10 ^ last)
		last++
}

function text(x, y, anchor, size, what)
{
	gsub(/&/, "\\&amp;", what)
	gsub(/</, "\\&lt;", what)
	printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\">%s</text>\n", x, y,
		anchor, size, what
}

function rect(x, y, w, h, fill)
{
	printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x, y, w, h,
		fill
}

function at(value)
{
	return LEFT + PLOT * (log(value) / log(10) - first) / (last - first)
}

function duration(value, digits)
{
	if (value >= 1e9)
		return sprintf("%.*f s", digits, value / 1e9)
	if (value >= 1e6)
		return sprintf("%.*f ms", value < 1e7 ? digits : 0, value / 1e6)
	if (value >= 1e3)
		return sprintf("%.*f µs", value < 1e5 ? digits : 0, value / 1e3)
	return sprintf("%.0f ns", value)
}

# In columns of three.
function legend(x, y, m)
{
	for (m = 1; m <= nr_modes; m++) {
		x = 10 + int((m - 1) / 3) * 230
		y = 58 + (m - 1) % 3 * 18
		rect(x, y, 12, 12, color[modes[m]])
		text(x + 17, y + 10, "start", 12, label[modes[m]])
	}
}

function axis(top, bottom, e, x)
{
	for (e = first; e <= last; e++) {
		x = at(10 ^ e)
		printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", x,
			top, x, bottom
		text(x, bottom + 16, "middle", 11, duration(10 ^ e, 0))
	}
	text(LEFT + PLOT / 2, bottom + 32, "middle", 11, "time per call, logarithmic")
}

function bar(kernel, call, mode, y, value)
{
	value = ns[kernel, call, mode]
	rect(LEFT, y, at(value < 10 ^ first ? 10 ^ first : value) - LEFT, BAR - 2, color[mode])
	text(at(value) + 5, y + BAR - 5, "start", 11, duration(value, 1) \
		(mode == "untraced" ? "" : sprintf("  (× %.*f)", times[kernel, call, mode] < 100 ? 1 : 0, \
			times[kernel, call, mode])))
}

function panel(kernel, top, c, m, y)
{
	text(10, top + 16, "start", 14, "Linux " kernel)
	axis(top + TITLE, top + TITLE + group * nr_calls, 0)
	for (c = 1; c <= nr_calls; c++) {
		y = top + TITLE + group * (c - 1) + GAP / 2
		text(LEFT - 8, y + BAR * nr_modes / 2 + 3, "end", 12, calls[c])
		for (m = 1; m <= nr_modes; m++)
			if ((kernel, calls[c], modes[m]) in ns)
				bar(kernel, calls[c], modes[m], y + BAR * (m - 1))
	}
}

END {
	group = BAR * nr_modes + GAP
	panel_height = TITLE + group * nr_calls + FOOT
	width = LEFT + PLOT + RIGHT
	height = HEAD + nr_panels * panel_height
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" " \
		"viewBox=\"0 0 %d %d\" font-family=\"sans-serif\">\n", width, height, width, height
	rect(0, 0, width, height, "#ffffff")
	text(10, 26, "start", 18, "What tracing costs a guest")
	text(10, 46, "start", 12, sprintf("%d vCPU%s of QEMU (%s), medians of %d round%s; × is the " \
		"time relative to untraced", vcpus, (vcpus > 1) ? "s" : "", toupper(accel), rounds, (rounds > 1) ? "s" : ""))
	legend()
	for (p = 1; p <= nr_panels; p++)
		panel(panels[p], HEAD + (p - 1) * panel_height)
	print "</svg>"
}
