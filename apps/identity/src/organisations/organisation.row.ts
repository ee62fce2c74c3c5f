import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Table `organisations`. */
@Entity({ name: 'organisations' })
export class OrganisationRow {
  @PrimaryColumn({ type: 'uuid', name: 'organisation_id' })
  organisationId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'timestamptz', name: 'created_at' })
  createdAt: Date;
}
