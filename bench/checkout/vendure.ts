/**
 * The whole flow on Vendure, through its Shop API: a customer fills a cart, sets an address and a shipping method, and
 * pays.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startDatabase } from '../alternatives/database.ts';
import { installAlternative } from '../alternatives/install.ts';
import { ROOT } from '../platforms/platform.ts';
import type { Checkout } from './checkout.ts';
import { VendureCustomers } from './shop.ts';
import type { VendureSettings } from './vendure-program.ts';

const PORTS = { shop: 18_601, postgres: 18_602 };
const CONNECTIONS = 64;

export const vendureCheckout: Checkout = {
  name: 'Vendure 3.7',
  description: 'a catalogue, taxes, shipping and stock; the payment is a row of its own handler, without a webhook',
  start: async () => {
    const dataDir = join(ROOT, '.data', 'bench', 'vendure');
    rmSync(dataDir, { recursive: true, force: true });
    mkdirSync(dataDir, { recursive: true });
    const database = await startDatabase(dataDir, PORTS.postgres);
    const program = await startProgram({
      folder: installAlternative('vendure'),
      dataDir,
      databaseUrl: database.address,
      port: PORTS.shop,
    });
    const customers = new VendureCustomers(`http://127.0.0.1:${PORTS.shop}`, CONNECTIONS);
    return {
      groups: { services: [program.pid!], PostgreSQL: [database.pid] },
      buy: () => customers.buy(),
      findProblem: async () => {
        const paid = await customers.countPaidOrders(database.address);
        return paid === customers.orderCount ? undefined : `${customers.orderCount} bought, ${paid} paid`;
      },
      stop: async () => {
        await customers.close();
        program.kill('SIGKILL');
        await once(program, 'exit');
        await database.stop();
      },
    };
  },
};

async function startProgram(settings: VendureSettings): Promise<ChildProcess> {
  const program = spawn(process.execPath, [join(import.meta.dirname, 'vendure-program.ts'), JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const lines = createInterface({ input: program.stdout });
  await Promise.race([
    (async () => {
      for await (const line of lines) if (line === 'ready') return;
    })(),
    once(program, 'exit').then(() => Promise.reject(new Error('Vendure did not start.'))),
  ]);
  program.stdout.resume();
  return program;
}
