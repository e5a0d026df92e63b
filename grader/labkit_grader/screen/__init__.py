"""What a diff adds that dishonest work often has: signs for people, never a part of a verdict."""
