const CONFIG = ['--config', 'tools/jest/drills.config.mjs', '--runInBand'];

/** The arguments of Jest. The values of its options are written with `=`. */
export function createDrillArguments(args: readonly string[]): string[] {
  const options = args.filter((arg) => arg.startsWith('-'));
  const [drill, ...tests] = args.filter((arg) => !arg.startsWith('-'));
  return [
    ...CONFIG,
    ...(drill === undefined ? [] : [drill]),
    ...(tests.length === 0 ? [] : ['--testNamePattern', `\\b(${tests.join('|')})\\b`]),
    ...options,
  ];
}
