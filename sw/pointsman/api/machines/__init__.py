"""Programs in the languages of abstract machines, run on any target: ``threads`` has that of TAM."""
