/**
 * Part `console-consumer` of the benchmark: what the console's consumer of payment events costs. Compares two platforms of
 * the same code, with a process for each service. The console's process of one of them is suspended before the load.
 */
import { join } from 'node:path';
import { readProcesses } from '../../tools/svc/processes/processes.ts';
import { type Measurement, medianRatio, type Round, systemCpuMs } from '../hosted-payment/measure.ts';
import { findProblems, getRate, measurePlatforms, newLatencyTable, newRatesTable } from '../hosted-payment/payments.ts';
import type { PartOptions } from '../main.ts';
import { newPlatform, type RunningPlatform } from '../platforms/platform.ts';
import type { System } from '../platforms/system.ts';
import type { Section } from '../report.ts';

const MIN_RATIO = 0.95;

export async function measureConsoleConsumer(options: PartOptions): Promise<Section> {
  const withConsole = newPlatform('distributed', { name: 'with the console', folder: 'with-console' });
  const without = suspendConsole(
    newPlatform('distributed', {
      name: 'console suspended',
      folder: 'without-console',
      halfLoadOf: withConsole.name,
    }),
  );
  const measurements = await measurePlatforms([withConsole, without], options);
  const [running, suspended] = measurements as [Measurement, Measurement];
  const compare = (getValue: (round: Round) => number): number => medianRatio(running, suspended, getValue);
  return {
    title: 'The console’s consumer of payment events',
    tables: [newRatesTable(measurements), newLatencyTable(measurements)],
    figures: [
      {
        name: 'payments a second with the console, against without',
        value: compare(getRate),
        unit: '',
        promised: MIN_RATIO,
      },
      {
        name: 'CPU for a payment when saturated',
        value: compare(({ saturated }) => systemCpuMs(saturated.cost)),
        unit: '',
        promised: 1 / MIN_RATIO,
        direction: 'most',
      },
      {
        name: 'WAL for a payment when saturated',
        value: compare(({ saturated }) => saturated.cost.walBytes),
        unit: '',
        promised: 1.15,
        direction: 'most',
      },
    ],
    problems: findProblems(measurements),
    data: measurements,
  };
}

/** Suspends the process, so that its queue fills, as if it was slow. It continues before the platform stops. */
function suspendConsole(system: System<RunningPlatform>): System<RunningPlatform> {
  return {
    ...system,
    start: async () => {
      const running = await system.start();
      const pid = readProcesses(join(running.dataDir, 'run', 'processes.json')).console?.pid;
      if (pid === undefined) throw new Error('The platform has no process of the console.');
      process.kill(pid, 'SIGSTOP');
      return {
        ...running,
        stop: async () => {
          process.kill(pid, 'SIGCONT');
          await running.stop();
        },
      };
    },
  };
}
