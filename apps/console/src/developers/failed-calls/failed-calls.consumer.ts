import { Controller, Inject } from '@nestjs/common';
import { type FailedCall, isText, MAX_FAILED_CALLS_PER_REQUEST, RecordFailedCallsV1 } from '@svc/contracts';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import { MessagePattern } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { CALL_RETENTION_MS } from './call-retention.js';
import { storeFailedCalls } from './failed-call.repository.js';

const MAX_PATH_LENGTH = 300;
const MAX_METHOD_LENGTH = 10;
const MAX_CODE_LENGTH = 100;
/** Clocks of two machines may differ. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;

/** Stores the calls that failed in other services. A repeat stores nothing, because a call is stored once by its id. */
@Controller()
export class FailedCallsConsumer {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  @MessagePattern(RecordFailedCallsV1)
  async record({ calls }: { calls: FailedCall[] }): Promise<{ recorded: true }> {
    if (calls.length > MAX_FAILED_CALLS_PER_REQUEST) throw new DomainError('request.too-large');
    const valid = calls.filter((call) => this.isValid(call));
    if (valid.length > 0) await inTransaction(this.dataSource, (tx) => storeFailedCalls(tx, valid));
    return { recorded: true };
  }

  private isValid({ requestId, method, path, statusCode, errorCode, calledUTCDate }: FailedCall): boolean {
    const ageMs = this.clock.now().getTime() - Date.parse(calledUTCDate);
    return (
      isUuid(requestId) &&
      isText(method, MAX_METHOD_LENGTH) &&
      isText(path, MAX_PATH_LENGTH) &&
      (errorCode === undefined || isText(errorCode, MAX_CODE_LENGTH)) &&
      statusCode >= 400 &&
      statusCode <= 599 &&
      ageMs > -MAX_CLOCK_DIFFERENCE_MS &&
      ageMs < CALL_RETENTION_MS
    );
  }
}
