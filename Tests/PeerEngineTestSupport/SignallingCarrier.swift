package import Signalling

/// A signalling system between the bot and one guest, without sockets: the adapter's own state machine, and a server that does
/// what the test needs. Candidates are in the descriptions.
package protocol SignallingCarrier: AnyObject {
  /// The id under which guests appear.
  var guest: String { get }
  /// Which side offers.
  var guestOffers: Bool { get }

  /// The events with which a call begins.
  func begin() -> [SignallingEvent]
  /// What the system says when somebody else takes the guest's place, before their description.
  func guestReplaced() -> [SignallingEvent]
  func guestSent(_ message: SignallingMessage) -> [SignallingEvent]
  func botSent(_ message: SignallingMessage) -> (toGuest: [SignallingMessage], events: [SignallingEvent])
}
