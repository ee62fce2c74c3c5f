import { IsIn, IsInt, IsOptional, IsUUID, Matches, Max, Min } from 'class-validator';

/** States that a notification can be left in for good without having been delivered. */
export const GIVEN_UP = ['exhausted', 'gone'] as const;

/** Body of `POST /admin/v1/notifications/replays` (E5): a `state`, or a `merchantId` and `since`; both narrow it down. */
export class ReplayManyRequest {
  /** Everything given up: `exhausted` or `gone`. */
  @IsOptional()
  @IsIn(GIVEN_UP, { message: '$property must be exhausted or gone' })
  state?: (typeof GIVEN_UP)[number];

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(999_999_999_999_999)
  merchantId?: number;

  /** Host and port as in the list, e.g. `shop.example:443`. */
  @IsOptional()
  @Matches(/^[^\s/@]{1,293}:\d{1,5}$/, { message: '$property must be a host and a port, such as shop.example:443' })
  endpoint?: string;

  /** Only payments notified of from this time on; ISO 8601 UTC. */
  @IsOptional()
  @Matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/, {
    message: '$property must be a time such as 2026-03-01T10:00:00Z',
  })
  since?: string;

  /** Goes on after this notification: `after` of the answer before. */
  @IsOptional()
  @IsUUID()
  after?: string;
}
