import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline, Transform, type TransformCallback } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { type AnnouncedReport, type SettlementLine, SettlementReportError } from '../../settlement-line.js';
import type { AdyenSettings } from '../adyen-config.js';
import { isAdyenUrl } from '../adyen-url.js';
import { checkColumns, parseSettlementLine, type ReportRecord } from './parse-settlement-line.js';

/** A line has about 250 bytes, so this is about a million lines. */
export const MAX_REPORT_BYTES = 256 * 1024 * 1024;
const MAX_RECORD_BYTES = 16 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** Without data for this time, the connection is lost. The signal limits the whole download. */
const SILENCE_MS = 30_000;

/**
 * Downloads a settlement details report and reads its lines as they arrive. The user of reports can do nothing else, and
 * its password is sent to no other host than Adyen's (Adyen's documentation, page "Get reports automatically"). A redirect
 * is an error.
 */
export async function* readSettlementReport(
  { mode, url, acquirerReference }: AnnouncedReport,
  settings: AdyenSettings | undefined,
  signal: AbortSignal,
  maxBytes = MAX_REPORT_BYTES,
): AsyncGenerator<SettlementLine> {
  if (settings === undefined) throw new SettlementReportError('The mode has no settings.');
  // The message was checked when it arrived, with the settings of that time.
  if (!isAdyenUrl(url, { mode, checkoutUrl: settings.checkoutUrl }))
    throw new SettlementReportError('The URL is not a URL of Adyen in this mode.');
  const response = await download(new URL(url), settings, signal);
  if (response.statusCode !== 200) {
    response.destroy();
    throw new SettlementReportError(`The download was answered with status ${response.statusCode}.`);
  }
  const parser = parse({ bom: true, columns: checkColumns, max_record_size: MAX_RECORD_BYTES });
  // An error of any stream ends the iteration of the parser.
  pipeline(response, limitBytes(maxBytes), parser, () => undefined);
  let lineNumber = 0;
  try {
    for await (const record of parser as AsyncIterable<ReportRecord>)
      yield parseSettlementLine(record, ++lineNumber, acquirerReference);
  } catch (error) {
    // The text of this error quotes the report.
    throw error instanceof CsvError ? new SettlementReportError(`The report is not valid CSV: ${error.code}.`) : error;
  } finally {
    response.destroy();
  }
  if (parser.info.bytes === 0) throw new SettlementReportError('The report is empty.');
}

async function download(
  url: URL,
  { reportUser, reportPassword }: AdyenSettings,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
  return new Promise((resolve, reject) => {
    const authorization = `Basic ${Buffer.from(`${reportUser}:${reportPassword}`).toString('base64')}`;
    // Without an agent, the connection ends with the download.
    const options = { agent: false, headers: { authorization }, maxHeaderSize: MAX_HEADER_BYTES, signal };
    const request = send(url, { ...options, timeout: SILENCE_MS })
      .on('timeout', () => request.destroy(new SettlementReportError('The download has stopped.')))
      .on('error', reject)
      .on('response', resolve);
    request.end();
  });
}

/** Passes the data on, and fails when there is too much. */
function limitBytes(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(new SettlementReportError(`The report has more than ${maxBytes} bytes.`));
      else done(null, chunk);
    },
  });
}
