/** The role that reads and writes only the rows that row-level security allows. */
export const SERVICE_ROLE = 'ibid_service';
