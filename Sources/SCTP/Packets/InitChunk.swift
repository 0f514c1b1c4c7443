import Bitstream
package import NIOCore

/// The body of an INIT or INIT ACK chunk (RFC 9260, 3.3.2 and 3.3.3).
package struct InitChunk: Sendable, Hashable {
  /// The tag that the receiver must put into its packets; never 0.
  package var initiateTag: UInt32
  /// The advertised receiver window credit (a_rwnd) in bytes.
  package var window: UInt32
  package var outgoingStreams: UInt16
  package var incomingStreams: UInt16
  package var initialTSN: UInt32
  package var parameters: [SCTPParameter]

  package init(
    initiateTag: UInt32, window: UInt32, outgoingStreams: UInt16 = .max, incomingStreams: UInt16 = .max,
    initialTSN: UInt32, parameters: [SCTPParameter] = []
  ) {
    self.initiateTag = initiateTag
    self.window = window
    self.outgoingStreams = outgoingStreams
    self.incomingStreams = incomingStreams
    self.initialTSN = initialTSN
    self.parameters = parameters
  }

  init(parsing body: ByteBuffer) throws(ParseError) {
    var rest = body
    guard
      let (tag, window, outgoing, incoming, tsn) = rest.readMultipleIntegers(
        as: (UInt32, UInt32, UInt16, UInt16, UInt32).self)
    else { throw .tooShort("An INIT chunk", needs: 20, found: 4 + body.readableBytes) }
    self.init(
      initiateTag: tag, window: window, outgoingStreams: outgoing, incomingStreams: incoming, initialTSN: tsn,
      parameters: try SCTPParameter.list(in: rest, of: "An INIT chunk"))
  }

  func write(into buffer: inout ByteBuffer) {
    buffer.writeMultipleIntegers(initiateTag, window, outgoingStreams, incomingStreams, initialTSN)
    for parameter in parameters { parameter.write(into: &buffer) }
  }

  package var cookie: ByteBuffer? { parameters.first { $0.kind == .stateCookie }?.value }

  package var supportsForwardTSN: Bool {
    parameters.contains { $0.kind == .forwardTSNSupported } || supports(SCTPChunk.Kind.forwardTSN)
  }

  package var supportsReconfiguration: Bool { supports(SCTPChunk.Kind.reconfiguration) }

  private func supports(_ chunkType: UInt8) -> Bool {
    parameters.contains { $0.kind == .supportedExtensions && $0.value.readableBytesView.contains(chunkType) }
  }

  /// The parameters that say what this implementation supports.
  static var supportedFeatures: [SCTPParameter] {
    [
      SCTPParameter(.forwardTSNSupported),
      SCTPParameter(
        .supportedExtensions, ByteBuffer(bytes: [SCTPChunk.Kind.reconfiguration, SCTPChunk.Kind.forwardTSN])),
    ]
  }

  /// The unsupported parameters that the sender wants to be named, as they are returned in an INIT ACK or ERROR.
  ///
  /// Parameters after one whose type says so are not looked at.
  var parametersToReport: [SCTPParameter] {
    var reported: [SCTPParameter] = []
    for parameter in parameters where !Self.known.contains(parameter.kind) {
      let action = UnknownTypeAction(parameterType: parameter.kind.rawValue)
      if action.reports { reported.append(parameter) }
      if action.stops { break }
    }
    return reported
  }

  private static let known: Set<SCTPParameter.Kind> = [
    .ipv4Address, .ipv6Address, .stateCookie, .unrecognized, .cookiePreservative, .hostName, .supportedAddressTypes,
    .supportedExtensions, .forwardTSNSupported,
  ]
}
