/** An entry of the tree, as the API's /branches lists it. */
export interface Branch {
  page_id: string;
  parent_page_id: string;
  path: string;
  title: string;
  /** Siblings are ordered by position, then by page_id. */
  position: number;
  status: string;
  has_children: boolean;
}

/** Maximum number of pages of a branch that the tree shows; a link leads to the others. */
export const BRANCH_PAGE_SIZE = 100;
