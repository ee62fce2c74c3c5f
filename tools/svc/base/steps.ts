/** One line for each step with the time it took; on a terminal the line counts the seconds while the step runs. */
export interface Steps {
  /** Runs one step. The text it returns says what was found or done. */
  run(name: string, work: () => Promise<string> | string): Promise<void>;
}

const NAME_WIDTH = 12;
const TEXT_WIDTH = 64;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

export function createSteps(stream: NodeJS.WriteStream = process.stdout): Steps {
  return {
    async run(name, work) {
      const started = performance.now();
      const stopShowing = showProgress(stream, name, started);
      try {
        const text = await work();
        stopShowing();
        stream.write(
          `  ✓ ${name.padEnd(NAME_WIDTH)} ${text.padEnd(TEXT_WIDTH)} ${secondsSince(started).padStart(8)}\n`,
        );
      } catch (error) {
        stopShowing();
        stream.write(
          `  ✗ ${name.padEnd(NAME_WIDTH)} ${'failed'.padEnd(TEXT_WIDTH)} ${secondsSince(started).padStart(8)}\n`,
        );
        throw error;
      }
    },
  };
}

function showProgress(stream: NodeJS.WriteStream, name: string, started: number): () => void {
  if (!stream.isTTY) {
    // A log file or a pipe: a sign of life now and then, and no control characters.
    const timer = setInterval(() => stream.write(`  … ${name.padEnd(NAME_WIDTH)} ${secondsSince(started)}\n`), 15_000);
    return () => clearInterval(timer);
  }
  let frame = 0;
  const draw = () =>
    stream.write(`\r\x1b[K  ${FRAMES[frame++ % FRAMES.length]} ${name.padEnd(NAME_WIDTH)} ${secondsSince(started)}`);
  draw();
  const timer = setInterval(draw, 100);
  return () => {
    clearInterval(timer);
    stream.write('\r\x1b[K');
  };
}

function secondsSince(started: number): string {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`;
}
