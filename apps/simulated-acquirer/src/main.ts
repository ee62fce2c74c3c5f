import { runUntilStopped } from '@svc/service';
import { startSimulatedAcquirer } from './simulated-acquirer.js';

await runUntilStopped(async () => {
  const acquirer = await startSimulatedAcquirer(process.env);
  return () => acquirer.close();
});
