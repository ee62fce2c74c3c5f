import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { SetUpTotp } from '../totp/set-up-totp.js';
import { SignInLimits } from './sign-in-limits.js';

/** Checks TOTP codes, with a limit of wrong codes for each person. */
@Injectable()
export class CheckCode {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(SignInLimits) private readonly limits: SignInLimits,
    @Inject(SetUpTotp) private readonly totp: SetUpTotp,
  ) {}

  /**
   * Uses a code and runs `action` in one transaction, so that a code whose action was refused can be entered again. Throws
   * `authentication.failed` for a wrong or used code, and `request.rate-limited` after too many of them.
   */
  async execute<T>(personId: string, code: string, action: (tx: Transaction) => Promise<T>): Promise<T> {
    const attempt = await this.limits.beginCode(personId);
    let isWrong = false;
    try {
      return await inTransaction(this.dataSource, async (tx) => {
        isWrong = !(await this.totp.useCode(tx, personId, code));
        if (isWrong) throw new DomainError('authentication.failed');
        return action(tx);
      });
    } finally {
      await (isWrong ? attempt.failed() : attempt.notFailed());
    }
  }
}
