/**
 * A process that runs spec files in Jest, one after the other, so that Jest loads only once. The parent process
 * sends the names of the files.
 */
import { join } from 'node:path';
import { runCLI } from 'jest';

const root = join(import.meta.dirname, '..', '..', '..');

export interface SpecOrder {
  readonly spec: string;
  /** The file with the {@link Plan}. */
  readonly plan: string;
}

process.on('message', ({ spec, plan }: SpecOrder) => {
  process.env['SVC_MUTANTS_PLAN'] = plan;
  const options = {
    _: [join(root, spec)],
    $0: 'jest',
    config: join(root, 'tools/mutants/jest.config.mjs'),
    runTestsByPath: true,
    runInBand: true,
    silent: true,
    // The environment records the results of the tests.
    reporters: [join(root, 'tools/mutants/no-reporter.cjs')],
  };
  runCLI(options as never, [root]).then(
    ({ results }) => {
      const broken = results.testResults.find(({ testExecError }) => testExecError);
      process.send!({ error: broken && (broken.failureMessage ?? 'it could not be run') });
    },
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit());
process.send!({ isReady: true });
