import { Inject, Injectable } from '@nestjs/common';
import { AuditTrail, type ChangeAuthor } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { inTransaction, isUniqueViolation } from '@svc/persistence';
import { DataSource } from 'typeorm';
import {
  type ConfiguredPolicy,
  VelocityPolicyRepository,
  type VelocityPolicyView,
} from '../velocity-policy.repository.js';

/** Sets the limits of a merchant and mode. The audit log shows the limits before and after. */
@Injectable()
export class SetVelocityLimits {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(VelocityPolicyRepository) private readonly policies: VelocityPolicyRepository,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
  ) {}

  /** Throws `resource.conflict` if another administrator set the limits at the same time. */
  async execute(
    author: ChangeAuthor,
    merchantId: number,
    mode: Mode,
    policy: ConfiguredPolicy,
  ): Promise<VelocityPolicyView> {
    try {
      return await inTransaction(this.dataSource, async (tx) => {
        const before = await this.policies.find(merchantId, mode, tx);
        const view = await this.policies.set(tx, merchantId, mode, policy, author.actor);
        await this.audit.append(tx, author, {
          action: 'velocity-limits.set',
          merchantId,
          ...(before ? { before: { mode, ...before } } : {}),
          after: { mode, ...policy },
        });
        return view;
      });
    } catch (error) {
      if (isUniqueViolation(error, 'velocity_policies_pkey')) throw new DomainError('resource.conflict');
      throw error;
    }
  }
}
