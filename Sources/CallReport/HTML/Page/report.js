// Shows a cursor at the same time in all timelines, and the values at that time. The rest of the page works without this script.
(() => {
  const groups = [...document.querySelectorAll('.lanes')].map((box) => ({
    box,
    duration: Number(box.dataset.duration),
    time: box.querySelector('.time'),
    plots: [...box.querySelectorAll('.plot')].map((svg) => ({ svg, cursor: cursorIn(svg), reading: readingOf(svg) })),
  }));
  let fraction = null;

  function cursorIn(svg) {
    const line = svg.ownerDocument.createElementNS(svg.namespaceURI, 'line');
    for (const [name, value] of [['class', 'cursor'], ['y1', '0'], ['y2', '100%'], ['visibility', 'hidden']]) line.setAttribute(name, value);
    svg.append(line);
    return line;
  }

  function readingOf(svg) {
    const output = svg.closest('.lane').querySelector('.reading output');
    if (!output || svg.dataset.values === undefined) return null;
    return {
      output,
      rest: output.textContent,
      step: Number(svg.dataset.step),
      unit: svg.dataset.unit,
      names: svg.dataset.names ? svg.dataset.names.split('|') : [],
      series: svg.dataset.values.split('|').map((values) => values.split(' ')),
    };
  }

  function show(reading, seconds) {
    const { output, rest, step, unit, names, series } = reading;
    output.classList.toggle('at', seconds !== null);
    if (seconds === null) { output.textContent = rest; return; }
    const values = series.map((values, index) => {
      const value = values[Math.min(values.length - 1, Math.floor(seconds / step))] ?? '-';
      const text = value === '-' ? '\u2013' : unit ? `${value} ${unit}` : value;
      return names[index] ? `${text} ${names[index]}` : text;
    });
    output.textContent = values.join(', ');
  }

  function point(at) {
    fraction = at;
    for (const { duration, time, plots } of groups) {
      const seconds = at === null ? null : at * duration;
      if (time) time.textContent = seconds === null ? '' : `at ${seconds.toFixed(1)} s`;
      for (const { cursor, reading } of plots) {
        cursor.setAttribute('visibility', at === null ? 'hidden' : 'visible');
        for (const end of ['x1', 'x2']) cursor.setAttribute(end, `${100 * (at ?? 0)}%`);
        if (reading) show(reading, seconds);
      }
    }
  }

  for (const { box, duration, plots } of groups) {
    box.addEventListener('pointermove', (event) => {
      const edge = plots[0].svg.getBoundingClientRect();
      const at = (event.clientX - edge.left) / edge.width;
      point(at >= 0 && at <= 1 ? at : null);
    });
    box.addEventListener('pointerleave', () => point(null));
    box.addEventListener('blur', () => point(null));
    box.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, PageDown: 10, PageUp: -10 }[event.key];
      if (event.key === 'Escape') point(null);
      if (!step) return;
      event.preventDefault();
      point(Math.min(1, Math.max(0, (fraction ?? (step > 0 ? 0 : 1)) + step * Math.max(0.005, 0.1 / duration))));
    });
  }

  // A printed page cannot be expanded.
  addEventListener('beforeprint', () => document.querySelectorAll('details').forEach((part) => { part.open = true; }));
})();
