import { Inject, Injectable } from '@nestjs/common';
import type { AmountTerms, MerchantFeatures } from '@svc/contracts';
import { DataSource } from 'typeorm';

/** A merchant's terms for payers. */
interface PayerTerms extends AmountTerms {
  readonly features: MerchantFeatures;
}

/** Reads merchants' terms from this service's copy of identity's events. */
@Injectable()
export class MerchantTermsQuery {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Undefined until identity's event has arrived. */
  async find(merchantId: number): Promise<PayerTerms | undefined> {
    const [row] = await this.dataSource.query<PayerTerms[]>(
      `SELECT features, minimum_amount AS "minimumAmount", maximum_amount AS "maximumAmount" FROM known_merchants WHERE merchant_id = $1`,
      [merchantId],
    );
    return row;
  }
}
