import type { FastifyInstance } from 'fastify';
import type { Faults } from '../control/faults.js';
import type { EmulatorContext } from '../emulator-context.js';
import { movementsOf } from '../settlement/close-batch.js';
import { reportFileName, reportPath, settlementReport } from '../settlement/settlement-report.js';

/** The user that downloads reports. */
export interface ReportUser {
  readonly user: string;
  readonly password: string;
}

/** Serves the settlement details reports, with basic authentication (documentation: "Get reports automatically"). */
export function serveReports(
  app: FastifyInstance,
  context: EmulatorContext,
  faults: Faults,
  { user, password }: ReportUser,
): void {
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  app.get<{ Params: { merchantAccount: string; fileName: string } }>(
    '/reports/download/MerchantAccount/:merchantAccount/:fileName',
    async (request, reply) => {
      if (request.headers.authorization !== authorization)
        return reply.status(401).header('www-authenticate', 'Basic realm="Adyen emulator"').send();
      const { merchantAccount, fileName } = request.params;
      const batch = [...context.store.batches.values()].find(
        (each) => reportPath(each, reportFileName(each)) === reportPath({ ...each, merchantAccount }, fileName),
      );
      const fault = faults.take('reports', [fileName]);
      if (fault?.type === 'status') return reply.status(fault.status ?? 503).send();
      if (!batch) return reply.status(404).send();
      const report = settlementReport(batch, movementsOf(context, batch));
      reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${fileName}"`);
      if (fault?.type !== 'lose-response') return reply.send(report);
      // Half of the report arrives, and then the connection breaks.
      reply.hijack();
      reply.raw.writeHead(200, { 'content-type': 'text/csv', 'content-length': Buffer.byteLength(report) });
      reply.raw.write(report.slice(0, report.length / 2), () => request.raw.socket.destroy());
      return reply;
    },
  );
}
