"""The holder's and the instructor's side: custody, blinding, release."""
