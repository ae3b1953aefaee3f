/** Rule for the value of a plain field of a new resource. */
export interface FieldRule {
  type: 'text' | 'date' | 'number' | 'integer' | 'choice';
  isRequired: boolean;
  isNullable: boolean;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  /** A regular expression, with flag `u`. */
  pattern?: string;
  values?: readonly string[];
  default?: string | number | null;
  example?: string | number;
}
