"""The lab: small problems by the thousand, and a tiny model that can play the whole game on two cores."""
