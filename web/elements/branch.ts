/** An entry of the tree, as the API's /branches lists it. */
export interface Branch {
  page_id: string;
  parent_page_id: string;
  path: string;
  title: string;
  /** Siblings are ordered by it, then by page_id. */
  position: number;
  status: string;
  has_children: boolean;
}

/** Pages of one branch that the tree shows; a link leads to the others. */
export const BRANCH_PAGE_SIZE = 100;
