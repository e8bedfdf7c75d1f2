package client

// keepOwner does nothing: here a new file inherits from its directory.
func (*Machine) keepOwner(string, string) {}
