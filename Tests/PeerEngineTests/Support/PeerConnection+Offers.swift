import Media
import PeerEngine
import RTP
import Signalling
import Testing

extension PeerConnection {
  /// Lets the connection make an offer, and returns it without sending it, nor anything else that is due.
  func takeOffer(restartingICE: Bool = false, now: MonotonicInstant) throws -> String {
    if restartingICE { requestICERestart() } else { offer(now: now) }
    let offers = poll(now: now, wallClock: NTPTime(secondsSince1970: 1_700_000_000)).compactMap { action in
      if case .event(.signal(.offer(let sdp))) = action { sdp } else { nil }
    }
    return try #require(offers.last)
  }
}
