internal import SDP

/// The section of the data channels in an offer or answer (RFC 8841), or in its form of 2013, which names the port in the
/// m-line and describes it by `a=sctpmap` (draft-ietf-mmusic-sctp-sdp-05).
struct DataSection: Sendable, Hashable {
  /// The SCTP port of the side that wrote the section.
  var port: UInt16
  /// The largest message that this side accepts, in bytes; 0 for any size (RFC 8841, 6).
  var maximumMessageBytes: UInt64
  /// Whether the section has the form of 2013.
  var isLegacy: Bool

  /// The usual SCTP port, which says nothing about the transport.
  static let usualPort: UInt16 = 5_000
  /// The maximum message size of a side that names none (RFC 8841, 6.1).
  private static let defaultMessageBytes: UInt64 = 65_536
  private static let application = "webrtc-datachannel"
  static let transportProtocol = "UDP/DTLS/SCTP"
  private static let protocols: Set<String> = ["UDP/DTLS/SCTP", "TCP/DTLS/SCTP"]

  /// Creates our section for an offer.
  init(maximumMessageBytes: Int) {
    port = Self.usualPort
    self.maximumMessageBytes = UInt64(max(0, maximumMessageBytes))
    isLegacy = false
  }

  /// Parses the section of the other side.
  init(_ section: MediaSection) throws(SectionRejection) {
    let line = section.mediaLine
    let name = line.transportProtocol.uppercased()
    if name == "DTLS/SCTP" {
      guard let format = line.formats.first, format.isDecimal, let port = UInt16(format) else { throw .noSCTPPort }
      self.port = port
      isLegacy = true
    } else {
      guard Self.protocols.contains(name) else {
        throw .unknownProtocol(line.transportProtocol, supported: Self.transportProtocol)
      }
      guard line.formats.contains(where: { $0.lowercased() == Self.application }) else { throw .noDataChannels }
      let written = section.attribute("sctp-port").map(\.trimmed)
      guard let port = written.map({ $0.isDecimal ? UInt16($0) : nil }) ?? Self.usualPort else { throw .noSCTPPort }
      self.port = port
      isLegacy = false
    }
    // Port 0 closes the association of a section (RFC 8841, 5.1).
    guard port != 0 else { throw .noSCTPPort }
    let size = section.attribute("max-message-size").map(\.trimmed)
    maximumMessageBytes = size.flatMap { $0.isDecimal ? UInt64($0) : nil } ?? Self.defaultMessageBytes
  }

  /// Creates our answer to the other side's section, in the form of the offer.
  init(answering remote: DataSection, maximumMessageBytes: Int) {
    self.init(maximumMessageBytes: maximumMessageBytes)
    isLegacy = remote.isLegacy
  }

  /// The formats of the m-line.
  var formats: [String] { isLegacy ? [String(port)] : [Self.application] }

  /// Adds the attributes of the section.
  func write(into section: inout MediaSection) {
    if isLegacy {
      section.append("sctpmap", "\(port) \(Self.application) 1024")
    } else {
      section.append("sctp-port", String(port))
    }
    section.append("max-message-size", String(maximumMessageBytes))
  }
}

/// What both sides agreed on for the data channels.
package struct NegotiatedData: Sendable, Hashable {
  /// The index of the m-line, from 0.
  package var index: Int
  package var mid: String?
  package var localPort: UInt16
  package var remotePort: UInt16
  /// The largest message that the other side accepts, in bytes; 0 for any size.
  package var remoteMaximumMessageBytes: UInt64
}
