import ICE
import Media
import NIOCore

/// Responses that arrived from programs, and some that are written by hand.
enum MDNSResponses {
  static let chromiumName = "d36bb3bc-934e-4d59-a60a-b47c918f3c05.local"

  /// Chromium 156 answers an A query from port 5353: an A record, and an additional NSEC record whose name points to
  /// itself.
  static let chromiumAddress = bytes(
    """
    000084000000000100000001\
    2464333662623362632d393334652d346435392d613630612d623437633931386633633035056c6f63616c00\
    00018001000000780004\
    0a090001\
    2464333662623362632d393334652d346435392d613630612d623437633931386633633035056c6f63616c00\
    002f8001000000780005c046000140
    """)

  /// Chromium 156 answers an AAAA query: an NSEC record, and its IPv4 address as an additional record.
  static let chromiumNegative = bytes(
    """
    000084000000000100000001\
    2464333662623362632d393334652d346435392d613630612d623437633931386633633035056c6f63616c00\
    002f8001000000780005c00c000140\
    2464333662623362632d393334652d346435392d613630612d623437633931386633633035056c6f63616c00\
    00018001000000780004\
    0a090001
    """)

  /// A response with two questions, `AB.local` A, a CNAME of `ab.local` to `cd.local`, and an additional `cd.local` AAAA.
  static let compressed = bytes(
    """
    1234 8400 0002 0002 0000 0001 \
    02 4142 05 6c6f63616c 00 0001 8001 \
    c00c 001c 8001 \
    c00c 0001 8001 00000078 0004 c0000207 \
    c00c 0005 0001 00000078 0005 02 6364 c00f \
    c03c 001c 0001 00000004 0010 20010db8000000000000000000000007
    """)

  /// Returns a response with one record for each address, in the layout of Chromium without NSEC.
  static func response(
    _ addresses: String..., name: String = "ab.local", timeToLive: UInt32 = 120
  ) -> ByteBuffer {
    var buffer = bytes("0000 8400 0000")
    buffer.writeMultipleIntegers(UInt16(addresses.count), 0 as UInt32)
    for text in addresses {
      for label in name.split(separator: ".") {
        buffer.writeInteger(UInt8(label.utf8.count))
        buffer.writeString(String(label))
      }
      let ip = address(text).ip
      buffer.writeMultipleIntegers(
        0 as UInt8, ip.family == .v4 ? 1 : 28 as UInt16, 0x8001 as UInt16, timeToLive, UInt16(ip.bytes.count))
      ip.write(into: &buffer)
    }
    return buffer
  }
}

/// A suite of the resolver, with a clock that its tests advance.
protocol ResolvesNames {
  var start: MonotonicInstant { get }
}

extension ResolvesNames {
  var browser: TransportAddress { address("10.9.0.1", 5_353) }

  func at(_ milliseconds: Int) -> MonotonicInstant { start + .milliseconds(milliseconds) }

  /// Returns a resolver whose query for `ab.local` was sent at the start.
  func asking() -> MDNSResolver {
    var resolver = MDNSResolver()
    resolver.resolve("ab.local", now: start)
    _ = resolver.poll(now: start)
    return resolver
  }

  /// Returns the results that a resolver reports until a time, without the datagrams that it sends.
  func results(of resolver: inout MDNSResolver, until end: MonotonicInstant) -> [MDNSResolver.Action] {
    var results: [MDNSResolver.Action] = []
    while let deadline = resolver.deadline, deadline <= end {
      results += resolver.poll(now: deadline).filter { if case .send = $0 { false } else { true } }
    }
    return results
  }
}
