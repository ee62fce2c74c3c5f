/** A program that sends webhooks as jobs of graphile-worker in PostgreSQL. job-queues.ts starts it. */
import { loadAlternative } from '../alternatives/install.ts';
import { deliverWebhook, type Job, processRequests, settings } from './job-program.ts';
import { CONCURRENCY } from './sender.ts';

interface GraphileWorker {
  run: (options: object) => Promise<unknown>;
  makeWorkerUtils: (options: object) => Promise<{
    migrate(): Promise<void>;
    withPgClient<T>(use: (client: { query(sql: string, values: unknown[]): Promise<T> }) => Promise<T>): Promise<T>;
  }>;
  Logger: new (factory: () => () => void) => unknown;
}

const { run, makeWorkerUtils, Logger } = loadAlternative<GraphileWorker>(settings.folder, 'graphile-worker');
const options = { connectionString: settings.address, maxPoolSize: 20, logger: new Logger(() => () => undefined) };

const utils = await makeWorkerUtils(options);
await utils.migrate();
await run({
  ...options,
  concurrency: CONCURRENCY,
  pollInterval: 500,
  noHandleSignals: true,
  taskList: { webhook: (job: Job) => deliverWebhook(job) },
});
// In the statement, 12 is the maximum number of attempts.
await processRequests(async (jobs) => {
  await utils.withPgClient((client) =>
    client.query(
      `SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(
         SELECT ('webhook', job, NULL, NULL, 12, NULL, NULL, NULL)::graphile_worker.job_spec
           FROM json_array_elements($1::json) AS job))`,
      [JSON.stringify(jobs)],
    ),
  );
});
