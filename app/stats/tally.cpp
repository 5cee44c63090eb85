#include "app/stats/tally.hpp"

namespace yodel {

void Tally::add(Fate fate, const Answer& answer, ev::Time now) {
    Counts& counts = answer.warm_up ? results_.warm_up : results_;
    switch (fate) {
    case Fate::sent: return;
    case Fate::unsent: ++counts.unsent; return;
    case Fate::lost: ++counts.lost; return;
    case Fate::unanswered_as_recorded: ++counts.echoed; return;
    case Fate::missing: ++results_.replay->missing; return;
    case Fate::duplicate: ++results_.duplicates; return;
    case Fate::unsolicited_as_recorded: ++results_.replay->as_recorded; break;
    case Fate::unrecorded: ++results_.replay->unrecorded; break;
    case Fate::unsolicited: break;
    default:
        results_.count_answered(answer, now);
        if (!results_.over_datagrams || answer.warm_up) return;
        if (!jitter_) jitter_ = std::make_unique<Jitter>();
        return results_.count_datagram(*jitter_, answer.reordered, answer.transit);
    }
    ++results_.unsolicited;
}

}  // namespace yodel
