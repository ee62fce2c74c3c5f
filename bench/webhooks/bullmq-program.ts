/** A program that sends webhooks as jobs of BullMQ on Redis. job-queues.ts starts it. */
import { loadAlternative } from '../alternatives/install.ts';
import { deliverWebhook, type Job, processRequests, settings } from './job-program.ts';
import { CONCURRENCY } from './sender.ts';

interface BullMq {
  Queue: new (
    name: string,
    options: object,
  ) => { addBulk(jobs: { name: string; data: Job; opts: object }[]): Promise<unknown> };
  Worker: new (name: string, work: (job: { data: Job }) => Promise<void>, options: object) => unknown;
}

const { Queue, Worker } = loadAlternative<BullMq>(settings.folder, 'bullmq');
const { hostname, port } = new URL(settings.address);
const connection = { host: hostname, port: Number(port), maxRetriesPerRequest: null };

const queue = new Queue('webhooks', { connection });
new Worker('webhooks', (job) => deliverWebhook(job.data), { connection, concurrency: CONCURRENCY });
const opts = { attempts: 12, backoff: { type: 'exponential', delay: 5_000 }, removeOnComplete: true };
await processRequests(async (jobs) => {
  await queue.addBulk(jobs.map((data) => ({ name: 'webhook', data, opts })));
});
