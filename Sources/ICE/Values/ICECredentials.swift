package import NIOCore

/// The username fragment and password of one side (RFC 8445, 5.3; RFC 8839, 5.4).
package struct ICECredentials: Sendable, Hashable {
  /// 4 to 256 characters: see ``isICECharacter(_:)``, or for those of the other side ``isLegacyICECharacter(_:)``.
  package let usernameFragment: String
  /// 22 to 256 of the same characters.
  package let password: String
  /// The username fragment as it stands in USERNAME.
  package let fragmentBytes: ByteBuffer
  /// The password as the key of MESSAGE-INTEGRITY (RFC 8489, 9.1.1).
  let key: [UInt8]

  package init(usernameFragment: String, password: String) {
    self.usernameFragment = usernameFragment
    self.password = password
    fragmentBytes = ByteBuffer(string: usernameFragment)
    key = Array(password.utf8)
  }

  /// Returns random credentials of letters and digits: 47 bits of username fragment and 142 bits of password, where RFC
  /// 8445, 5.3 requires 24 and 128.
  package static func random(using generator: inout some RandomNumberGenerator) -> ICECredentials {
    func text(_ length: Int) -> String {
      String(
        decoding: (0..<length).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] },
        as: UTF8.self)
    }
    let usernameFragment = text(8)
    return ICECredentials(usernameFragment: usernameFragment, password: text(24))
  }

  /// Whether a byte is an `ice-char` (RFC 8839, 5.4).
  package static func isICECharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default:
      false
    }
  }

  /// Whether a byte is an `ice-char`, or one of the four other characters that libwebrtc, and so browsers, accept in a
  /// description: some servers write them, and STUN carries them as well as any other (crbug.com/1053756).
  package static func isLegacyICECharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "="), UInt8(ascii: "#"): true
    default: isICECharacter(byte)
    }
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
}
