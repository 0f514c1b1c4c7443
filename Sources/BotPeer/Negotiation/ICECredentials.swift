/// An ICE user fragment and password (RFC 8839, 5.4).
package struct ICECredentials: Sendable, Hashable {
  package var usernameFragment: String
  package var password: String

  package init(usernameFragment: String, password: String) {
    self.usernameFragment = usernameFragment
    self.password = password
  }

  /// Makes new ones: 8 characters (47 bits) and 24 characters (142 bits), above the 24 and 128 bits that RFC 8445, 5.3
  /// asks for.
  package init(using generator: inout some RandomNumberGenerator) {
    usernameFragment = RandomText.make(length: 8, using: &generator)
    password = RandomText.make(length: 24, using: &generator)
  }
}
