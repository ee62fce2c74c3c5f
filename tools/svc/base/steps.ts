/** Prints a line for each step of a command, with its result and duration. A terminal also shows the progress. */
export interface Steps {
  /** Returns the result of the action. The line contains the result, or its description. */
  run<Result extends string | { readonly description: string }>(
    name: string,
    action: () => Promise<Result> | Result,
  ): Promise<Result>;
}

const NAME_WIDTH = 12;
const TEXT_WIDTH = 64;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

export function createSteps(stream: NodeJS.WriteStream = process.stdout): Steps {
  return {
    async run(name, action) {
      const started = performance.now();
      const stopProgress = showProgress(stream, name, started);
      const writeResult = (mark: string, text: string) => {
        stopProgress();
        const seconds = secondsSince(started).padStart(8);
        stream.write(`  ${mark} ${name.padEnd(NAME_WIDTH)} ${text.padEnd(TEXT_WIDTH)} ${seconds}\n`);
      };
      try {
        const result = await action();
        writeResult('✓', typeof result === 'string' ? result : result.description);
        return result;
      } catch (error) {
        writeResult('✗', 'failed');
        throw error;
      }
    },
  };
}

function showProgress(stream: NodeJS.WriteStream, name: string, started: number): () => void {
  if (!stream.isTTY) {
    // The output is a log file or a pipe, so print no control characters.
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
