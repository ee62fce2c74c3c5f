/**
 * Shifts the clock of a process: `node --import …/shifted-clock.mjs`. `SHIFT_MS` is the shift at the start, and a message
 * of the parent process sets another shift. Only `Date` is shifted, as when a person sets the clock of a computer:
 * timers and the monotonic clock continue.
 */
const SystemDate = Date;
let shiftMs = Number(process.env.SHIFT_MS ?? 0);
process.on('message', (message) => (shiftMs = message.shiftMs));
// The channel must not keep the process alive.
process.channel?.unref();

globalThis.Date = class Date extends SystemDate {
  constructor(...values) {
    super(...(values.length === 0 ? [Date.now()] : values));
  }

  static now() {
    return SystemDate.now() + shiftMs;
  }
};
