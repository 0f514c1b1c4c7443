import ICE
import NIOCore
import Testing

@Suite("TURN messages and credentials")
struct TURNMessageTests {
  private let username = "\u{30DE}\u{30C8}\u{30EA}\u{30C3}\u{30AF}\u{30B9}"
  private var credentials: TURNCredentials { TURNCredentials(username: username, password: "TheMatrIX") }

  @Test(
    "the key of RFC 5769, 2.4 is computed from user name, realm and password, and its sample is written byte for byte")
  func longTermVector() {
    let sample = bytes(
      """
      0001 0060 2112a442 78ad3433 c6ad72c0 29da412e
      0006 0012 e3839ee3 8388e383 aae38383 e382afe3 82b90000
      0015 001c 662f2f34 39396b39 35346436 4f4c3334 6f4c3946 53547679 36347341
      0014 000b 6578616d 706c652e 6f726700
      0008 0014 f6702465 6dd64a3e 02b8e071 2e85c9a2 8ca89666
      """)
    let key = credentials.key(realm: "example.org", algorithm: .md5)
    #expect(ByteBuffer(bytes: key) == bytes("e8ca7ad59d5eb0518e312911d2dab2a9"))
    var message = STUNMessage(
      .request, transactionID: STUNTransactionID(high: 0x78AD_3433, low: 0xC6AD_72C0_29DA_412E))
    message.username = username
    message.nonce = ByteBuffer(string: "f//499k954d6OL34oL9FSTvy64sA")
    message.realm = "example.org"
    message.appendIntegrity(key: key)
    #expect(written(message) == sample)
  }

  /// The sample of RFC 8489, B.1, as corrected by erratum 6268.
  private let sha256Sample = bytes(
    """
    0001 0090 2112a442 78ad3433 c6ad72c0 29da412e
    001e 0020 4a3cf38f ef6992bd a952c678 0417da0f 24819415 569e60b2 05c46e41 407f1704
    0015 0029 6f624d61 744a6f73 32414141 43662f2f 3439396b 39353464 364f4c33 346f4c39 46535476 79363473 41000000
    0014 000b 6578616d 706c652e 6f726700
    001d 0004 00020000
    001c 0020 b5c7bf00 5b6c52a2 1c51c5e8 92f81924 136296cb 927c4314 9309278c c6518e65
    """)

  @Test("MESSAGE-INTEGRITY-SHA256 of RFC 8489, B.1 is verified and written with the key of its user")
  func sha256Vector() throws {
    let message = try STUNMessage(parsing: sha256Sample)
    #expect(message.realm == "example.org")
    #expect(message.nonce == ByteBuffer(string: "obMatJos2AAACf//499k954d6OL34oL9FSTvy64sA"))
    #expect(message.passwordAlgorithm == 2)
    let key = credentials.key(realm: "example.org", algorithm: .sha256)
    #expect(message.isAuthenticSHA256(key: key))
    #expect(!message.isAuthenticSHA256(key: credentials.key(realm: "example.org", algorithm: .md5)))
    #expect(!message.isAuthentic(key: key))
    var again = message
    again.attributes.removeLast()
    again.appendIntegritySHA256(key: key)
    #expect(written(again) == sha256Sample)
  }

  @Test("the SHA-256 key is the hash of user name, realm and password")
  func sha256Key() {
    let key = credentials.key(realm: "example.org", algorithm: .sha256)
    #expect(ByteBuffer(bytes: key) == bytes("dd295a613b9058c3c23d6dc7165bda072304d989c9d0af3a8c7e184b4f9bb4a1"))
  }

  @Test("a truncated MESSAGE-INTEGRITY-SHA256 is not authentic, and attributes after it are ignored")
  func sha256Limits() throws {
    var truncated = try STUNMessage(parsing: sha256Sample)
    let value = truncated.attributes.removeLast().value
    truncated.attributes.append(
      STUNAttribute(.messageIntegritySHA256, value: value.getSlice(at: value.readerIndex, length: 16) ?? value))
    #expect(!truncated.isAuthenticSHA256(key: credentials.key(realm: "example.org", algorithm: .sha256)))
    var extended = try STUNMessage(parsing: sha256Sample)
    extended.attributes.append(STUNAttribute(.lifetime, value: ByteBuffer(integer: 600 as UInt32)))
    #expect(extended.lifetime == nil)
  }

  @Test("the attributes of TURN have the layout of RFC 8656")
  func layouts() throws {
    var message = STUNMessage(.request, method: .allocate, transactionID: STUNTransactionID(high: 1, low: 2))
    message.requestedTransport = 17
    message.lifetime = 600
    message.requestedAddressFamily = .v6
    message.additionalAddressFamily = .v6
    message.channelNumber = 0x4001
    message.appendXorPeerAddress(address("192.0.2.1", 32_853))
    message.appendXorRelayedAddress(address("2001:db8::1", 1))
    message.data = ByteBuffer(string: "abcde")
    let expected = bytes(
      """
      0003 006c 2112a442 00000001 00000000 00000002
      0019 0004 11000000
      000d 0004 00000258
      0017 0004 02000000
      8000 0004 02000000
      000c 0004 40010000
      0012 0008 0001a147 e112a643
      0016 0014 00022113 0113a9fa 00000001 00000000 00000003
      0013 0005 61626364 65000000
      """)
    // The length of the whole is checked by parsing.
    var length = expected
    length.setInteger(UInt16(expected.readableBytes - 20), at: 2)
    #expect(written(message) == length)
    let parsed = try STUNMessage(parsing: written(message))
    #expect(parsed.requestedTransport == 17)
    #expect(parsed.lifetime == 600)
    #expect(parsed.requestedAddressFamily == .v6)
    #expect(parsed.additionalAddressFamily == .v6)
    #expect(parsed.channelNumber == 0x4001)
    #expect(parsed.xorPeerAddresses == [address("192.0.2.1", 32_853)])
    #expect(parsed.xorRelayedAddresses == [address("2001:db8::1", 1)])
    #expect(parsed.data == ByteBuffer(string: "abcde"))
  }

  @Test("methods and classes have the numbers of RFC 8656, 17")
  func types() {
    let id = STUNTransactionID(high: 0, low: 0)
    let types: [(STUNMessage.Kind, STUNMessage.Method, UInt16)] = [
      (.request, .allocate, 0x0003), (.success, .allocate, 0x0103), (.errorResponse, .allocate, 0x0113),
      (.request, .refresh, 0x0004), (.indication, .send, 0x0016), (.indication, .data, 0x0017),
      (.request, .createPermission, 0x0008), (.request, .channelBind, 0x0009),
    ]
    for (kind, method, number) in types {
      #expect(written(STUNMessage(kind, method: method, transactionID: id)).getInteger(at: 0) == number)
    }
  }

  @Test("ADDRESS-ERROR-CODE, ALTERNATE-SERVER and PASSWORD-ALGORITHMS are read")
  func answers() {
    var message = STUNMessage(.success, method: .allocate, transactionID: STUNTransactionID(high: 1, low: 2))
    message.set(.addressErrorCode, bytes("02 000428 6e6f"))
    #expect(message.addressErrorCode?.family == .v6)
    #expect(message.addressErrorCode?.error == STUNErrorCode(440, "no"))
    message.set(.alternateServer, bytes("0001 0d96 c0000209"))
    #expect(message.alternateServer == address("192.0.2.9", 3_478))
    message.set(.passwordAlgorithms, bytes("0002 0000 0007 0003 aabbcc00 0001 0000"))
    #expect(message.passwordAlgorithms == [2, 7, 1])
    message.set(.passwordAlgorithms, bytes("0002 0000 0007 0009 aabbcc00"))
    #expect(message.passwordAlgorithms.isEmpty)
  }

  @Test("no description of credentials contains the password or the secret")
  func hiddenPasswords() {
    let credentials = TURNCredentials(username: "bob", password: "swordfish")
    let rest = TURNRestCredentials(secret: "swordfish")
    var dumped = ""
    dump(credentials, to: &dumped)
    dump(rest, to: &dumped)
    for text in ["\(credentials)", String(reflecting: credentials), "\(rest)", String(reflecting: rest), dumped] {
      #expect(!text.contains("swordfish"))
    }
    #expect("\(credentials)".contains("bob"))
  }

  @Test("time-limited credentials are the expiry, the name and the HMAC-SHA1 of both")
  func restCredentials() {
    let credentials = TURNRestCredentials(secret: "north").credentials(name: "bob", expiry: 1_700_000_000)
    #expect(credentials == TURNCredentials(username: "1700000000:bob", password: "7tNSWpJ3gOxGfEgOjt+kaWhBC20="))
    #expect(TURNRestCredentials(secret: "north").credentials(name: "", expiry: 5).username == "5")
  }

  @Test("ChannelData is padded on streams only and shares its payload", arguments: 0...9)
  func channelData(length: Int) throws {
    let payload = ByteBuffer(bytes: (0..<length).map { UInt8($0) })
    let datagram = TURNChannelData.frame(payload, channel: 0x4001, isPadded: false)
    #expect(datagram.readableBytes == 4 + length)
    let frame = TURNChannelData.frame(payload, channel: 0x4001, isPadded: true)
    #expect(frame.readableBytes == 4 + (length + 3) / 4 * 4)
    for bytes in [datagram, frame] {
      let parsed = try #require(TURNChannelData.parse(bytes))
      #expect(parsed.channel == 0x4001)
      #expect(parsed.payload == payload)
    }
    // With room before the payload the frame is the same, and the payload of others does not change.
    var roomy = ByteBuffer(bytes: [1, 2, 3, 4] + (0..<length).map { UInt8($0) })
    roomy.moveReaderIndex(forwardBy: 4)
    #expect(TURNChannelData.frame(roomy, channel: 0x4001, isPadded: true) == frame)
    roomy.moveReaderIndex(to: 0)
    #expect(roomy.readSlice(length: 4) == ByteBuffer(bytes: [1, 2, 3, 4]))
  }

  @Test("ChannelData with a wrong number or length is refused")
  func wrongChannelData() {
    for text in ["", "40", "400100", "40010001", "3fff0000", "50000000", "4001000400000"] {
      #expect(TURNChannelData.parse(bytes(text)) == nil, "\(text)")
    }
  }
}
